import SettleReplication

/// A client without a network.
struct NoNetwork: HTTPClient {
    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        throw HTTPClientError(.failed, "there is no network here")
    }
}
