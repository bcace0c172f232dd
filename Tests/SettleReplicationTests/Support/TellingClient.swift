import SettleHTTP

/// A client that reports each request before it sends it.
struct TellingClient: HTTPTransport {
    let client: any HTTPTransport
    let tell: @Sendable (HTTPRequest) -> Void

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        tell(request)
        return try await client.send(request)
    }
}
