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
public final class CurlTransport: HTTPTransport {
    private let options: TransportOptions
    private let mailbox = CurlMailbox()

    /// Creates a client.
    public init(_ options: TransportOptions = TransportOptions()) {
        self.options = options
        CurlThread.start(mailbox, options)
    }

    deinit { mailbox.post(.close) }

    /// Sends a request and returns as soon as the head of its response has arrived.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response.
    /// - Throws: ``TransportError``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try HTTPRequestCheck.check(request)
        var request = try options.compressesRequests ? HTTPCompression.compress(request) : request
        for _ in 0...max(0, options.redirects) {
            let transfer = CurlTransfer(request, mailbox: mailbox)
            let head = try await transfer.start()
            let body = TransportBody {
                try await transfer.next()
            } onDrop: { [self] in
                transfer.cancel()
                // The client stays alive as long as the response can be read.
                withExtendedLifetime(self) {}
            }
            let response = TransportResponse(status: head.status, headers: head.headers, body: body, url: request.url)
            guard let next = try HTTPRedirect.next(request, response) else { return response }
            // Reading a short body to its end frees the connection.
            _ = try? await body.collect(limit: 64 * 1024)
            request = next
        }
        throw TransportError(.badRedirect, "\(request.url.authority) leads on and on")
    }
}

/// Compresses request bodies.
enum HTTPCompression {
    /// Bodies with fewer bytes are not compressed.
    private static let least = 1024

    /// The request with its body compressed, if that is bytes and large enough.
    static func compress(_ request: TransportRequest) throws -> TransportRequest {
        guard case .bytes(let bytes) = request.body, bytes.count >= least, request.headers["Content-Encoding"] == nil
        else { return request }
        var compressed: [UInt8] = []
        try bytes.withUnsafeBytes { bytes in
            try Gzip(.compress).process(bytes, isLast: true) { compressed.append(contentsOf: $0) }
        }
        guard compressed.count < bytes.count else { return request }
        var copy = request
        copy.body = .bytes(compressed)
        copy.headers["Content-Encoding"] = "gzip"
        return copy
    }
}

/// Rejects invalid requests: a line break in a header would let its author inject another request.
enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// - Throws: ``TransportError`` with code `badRequest`.
    static func check(_ request: TransportRequest) throws(TransportError) {
        guard isToken(request.method) else { throw TransportError(.badRequest, "a method is one word") }
        if !request.body.isNone, ["GET", "HEAD"].contains(request.method) {
            throw TransportError(.badRequest, "\(request.method) has no body")
        }
        for field in request.headers.fields {
            guard isToken(field.name) else { throw TransportError(.badRequest, "the name of a header is one word") }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") }) else {
                throw TransportError(.badRequest, "the header \(field.name) has characters that end a line")
            }
            guard !own.contains(field.name.lowercased()) else {
                throw TransportError(.badRequest, "the header \(field.name) is set by the client itself")
            }
        }
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                default: Array("!#$%&'*+-.^_`|~".utf8).contains(byte)
                }
            }
    }
}

/// Follows redirects, and decides which headers to send on.
enum HTTPRedirect {
    /// The headers that another host may see: none that could be a secret.
    private static let harmless = [
        "Accept", "Accept-Encoding", "Accept-Language", "Range", "If-None-Match", "If-Match", "If-Modified-Since",
        "If-Range", "User-Agent",
    ]

    /// The next request; `nil` if the response is not a redirect to follow.
    ///
    /// - Throws: ``TransportError`` with code `badRedirect` for a redirect that is not allowed.
    static func next(
        _ request: TransportRequest, _ response: TransportResponse
    ) throws(TransportError) -> TransportRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status), ["GET", "HEAD"].contains(request.method),
            request.body.isNone, let location = response.headers["Location"]
        else { return nil }
        let place = request.url.authority
        let url: HTTPURL
        do throws(TransportError) {
            url = try request.url.resolving(location: location)
        } catch {
            throw TransportError(.badRedirect, "\(place) leads to what is no address", cause: error)
        }
        guard request.url.scheme == .http || url.scheme == .https else {
            throw TransportError(.badRedirect, "\(place) leads from https to \(url.authority) in the open")
        }
        var next = request
        next.url = url.withoutCredentials
        if !url.hasSameOrigin(as: request.url) { next.headers = request.headers.only(harmless) }
        return next
    }
}
