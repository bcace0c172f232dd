internal import CCurl
internal import SettleDatabase

/// An HTTP client on libcurl.
///
/// All requests of a client share one thread and a pool of kept-alive connections, so create one client and share it.
/// The thread ends when the client and all its responses are released.
///
/// A connection that the server closed while idle fails when it is next used. If no byte of a response had arrived,
/// curl sends the request again on a new connection, whatever its method. A `POST` can thus arrive twice if a server
/// dies between accepting and answering it. CouchDB's protocol tolerates that: writing a revision twice has the effect
/// of writing it once.
public final class CurlHTTPClient: HTTPClient {
    private let options: HTTPClientOptions
    private let mailbox = CurlMailbox()

    /// Creates a client.
    public init(_ options: HTTPClientOptions = HTTPClientOptions()) {
        self.options = options
        CurlThread.start(mailbox, options)
    }

    deinit { mailbox.post(.close) }

    /// Sends a request and returns as soon as the head of its response has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response.
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
                // The client stays alive as long as the response can be read.
                withExtendedLifetime(self) {}
            }
            let response = HTTPClientResponse(status: head.status, headers: head.headers, body: body, url: request.url)
            guard let next = try HTTPRedirect.next(request, response) else { return response }
            // Reading a short body to its end frees the connection.
            _ = try? await body.collect(limit: 64 * 1024)
            request = next
        }
        throw HTTPClientError(.badRedirect, "\(request.url.authority) leads on and on")
    }
}
