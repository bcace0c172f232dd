/// Sends HTTP requests.
///
/// Use ``DefaultTransport``; other implementations can replace the network, or do without one.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns as soon as the head of its response has arrived; the body may still be arriving.
    ///
    /// A response with any status is returned. Redirects of `GET` and `HEAD` are followed.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response; releasing it ends the transfer.
    /// - Throws: ``TransportError``; with code `cancelled` if the task is cancelled before the response starts.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// The options of its connections, with which a ``MobilePeer`` opens WebSockets to the same servers. The defaults unless an
    /// implementation has others.
    var options: TransportOptions { get }
}

extension HTTPTransport {
    /// The defaults.
    public var options: TransportOptions { TransportOptions() }
}

/// A response: its head, and a body that may still be arriving.
public struct TransportResponse: Sendable {
    /// The status, like 200.
    public let status: Int
    /// The headers.
    public let headers: TransportHeaders
    /// The body. Releasing it ends the transfer.
    public let body: TransportBody
    /// The address that responded: the requested one, or that of the last redirect.
    public let url: HTTPURL

    /// Creates a response.
    public init(status: Int, headers: TransportHeaders, body: TransportBody, url: HTTPURL) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: How many bytes it may have.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit, which also ends the transfer.
    public func collect(limit: Int) async throws -> [UInt8] { try await body.collect(limit: limit) }
}
