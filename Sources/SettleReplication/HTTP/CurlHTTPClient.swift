internal import CCurl
internal import SettleDatabase

/// An HTTP client on libcurl.
///
/// All requests of a client share one thread and its connections, which are kept open and used again; so make one client
/// and share it. The thread ends when nobody has the client, or an answer of its, any more.
///
/// A connection that the server closed while it was idle is found out when it is used: then curl sends the request again on
/// a new one, once nothing at all had come back, whatever its method. A `POST` can thus arrive twice, if a server dies after
/// it took it and before it answers. CouchDB's protocol bears that: writing a revision twice is writing it once.
public final class CurlHTTPClient: HTTPClient {
    private let options: HTTPClientOptions
    private let mailbox = CurlMailbox()

    /// Makes a client.
    public init(_ options: HTTPClientOptions = HTTPClientOptions()) {
        self.options = options
        CurlThread.start(mailbox, options)
    }

    deinit { mailbox.post(.close) }

    /// Sends a request and returns as soon as the head of its answer is there.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer.
    /// - Throws: ``HTTPClientError``.
    public func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try HTTPRequestCheck.check(request)
        var request = try options.compressesRequests ? HTTPCompression.compress(request) : request
        for _ in 0...max(0, options.redirects) {
            let transfer = CurlTransfer(request, mailbox: mailbox)
            let head = try await transfer.start()
            let body = HTTPClientBody {
                try await transfer.next()
            } onDrop: { [self] in
                transfer.cancel()
                // The client lives as long as somebody can read.
                withExtendedLifetime(self) {}
            }
            let response = HTTPClientResponse(status: head.status, headers: head.headers, body: body, url: request.url)
            guard let next = try HTTPRedirect.next(request, response) else { return response }
            // A short body that is read to its end leaves the connection for others.
            _ = try? await body.collect(limit: 64 * 1024)
            request = next
        }
        throw HTTPClientError(.badRedirect, "\(request.url.authority) leads on and on")
    }
}
