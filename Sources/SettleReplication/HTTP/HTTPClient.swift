/// Sends HTTP requests.
///
/// Use ``CurlHTTPClient``; other implementations can replace the network, or do without one.
public protocol HTTPClient: Sendable {
    /// Sends a request and returns as soon as the head of its response has arrived; the body may still be arriving.
    ///
    /// A response with any status is returned. Redirects of `GET` and `HEAD` are followed.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response; releasing it ends the transfer.
    /// - Throws: ``HTTPClientError``; with code `cancelled` if the task is cancelled before the response starts.
    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse
}
