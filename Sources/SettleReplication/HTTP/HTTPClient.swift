/// Sends HTTP requests.
///
/// ``CurlHTTPClient`` is the one to use; the protocol is the place where another network, or none, can be put.
public protocol HTTPClient: Sendable {
    /// Sends a request and returns as soon as the head of its answer is there; the body comes by and by.
    ///
    /// An answer with any status is an answer. Redirects of `GET` and `HEAD` are followed.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer; letting go of it ends the transfer.
    /// - Throws: ``HTTPClientError``; with code `cancelled` when the task is cancelled before the answer begins.
    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse
}
