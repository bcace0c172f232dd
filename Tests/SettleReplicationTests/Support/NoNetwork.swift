import SettleReplication

/// A client without a network.
struct NoNetwork: HTTPTransport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        throw TransportError(.failed, "there is no network here")
    }
}
