/// The answer to an HTTP request: its head, and a body that may still be arriving.
public struct HTTPClientResponse: Sendable {
    /// The status, as in 200.
    public let status: Int
    /// The headers.
    public let headers: HTTPClientHeaders
    /// The body. Letting go of it ends the transfer.
    public let body: HTTPClientBody
    /// Who answered: the address that was asked, or the last that a server led to.
    public let url: HTTPURL

    /// Makes an answer.
    public init(status: Int, headers: HTTPClientHeaders, body: HTTPClientBody, url: HTTPURL) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: How many bytes it may have.
    /// - Returns: Its bytes.
    /// - Throws: ``HTTPClientError``; with code `bodyTooLarge` past the limit, and the transfer is ended.
    public func collect(limit: Int) async throws -> [UInt8] { try await body.collect(limit: limit) }
}
