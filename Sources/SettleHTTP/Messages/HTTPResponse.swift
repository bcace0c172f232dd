/// A response: its status, its headers, and a body that may still be made or still be arriving.
public struct HTTPResponse: Sendable {
    /// The status, like 200.
    public var status: Int
    /// The headers. A server writes some headers itself: the length, the transfer encoding, the date, and the
    /// connection.
    public var headers: HTTPHeaders
    /// The body. Releasing a body that is still arriving ends the transfer.
    public var body: HTTPBody
    /// The name of the user who sent the request, for a server's log.
    package var user: String?
    /// The error behind a status of 500 or above, for a client in the server's process; it is never sent.
    package var cause: (any Error)?

    /// Creates a response.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: HTTPBody = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum size in bytes.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit, which also ends the transfer.
    public func collect(limit: Int) async throws -> [UInt8] { try await body.collect(limit: limit) }
}
