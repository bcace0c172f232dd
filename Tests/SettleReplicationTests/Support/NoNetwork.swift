import SettleHTTP
import SettleReplication

/// A client without a network.
struct NoNetwork: HTTPTransport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw TransportError(.failed, "there is no network here")
    }
}
