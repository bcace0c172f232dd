#if canImport(CCurl)
internal import CCurl

/// An HTTP client on libcurl.
///
/// All requests of a client share one thread and a pool of persistent connections, so create one client and share
/// it. The thread ends when the client and all its responses are released.
///
/// If the server has closed an idle connection, the next request on it fails. If no byte of a response has arrived,
/// curl sends the request again on a new connection, whatever its method. So a `POST` can arrive twice if a server
/// dies between accepting and answering it. CouchDB's protocol tolerates that: writing a revision twice has the
/// same effect as writing it once.
public final class CurlTransport: HTTPTransport {
    /// The options of all requests.
    public let options: TransportOptions
    private let mailbox = CurlMailbox()
    private let compression: HTTPCompression

    /// Creates a client.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        compression = HTTPCompression(options)
        CurlThread.start(mailbox, options)
    }

    deinit { mailbox.post(.close) }

    /// Sends a request and returns when the head of its response has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response.
    /// - Throws: ``TransportError``.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try HTTPRequestCheck.check(request)
        return try await compression.send(request) { try await HTTPRedirect.follow($0, options, send: exchange) }
    }

    private func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        let transfer = CurlTransfer(request, mailbox: mailbox)
        let head = try await transfer.start()
        let body = HTTPBody {
            try await transfer.next()
        } onDrop: { [self] in
            transfer.cancel()
            // The client stays alive as long as the response can be read.
            withExtendedLifetime(self) {}
        }
        return HTTPResponse(status: head.status, headers: head.headers, body: body)
    }
}
#endif
