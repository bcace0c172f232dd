internal import SettleDatabase

/// A request to send.
public struct HTTPRequest: Sendable {
    /// The method, as in `GET`; `COPY` and others are sent as they are.
    public var method: String
    /// The address. Its user and password are not sent.
    public var url: HTTPURL
    /// The headers; the client sets `Host`, `Content-Length` and `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody
    /// How long name resolution, connecting and the TLS handshake may take together; 30 seconds unless set.
    public var connectTimeout: Duration = .seconds(30)
    /// After how long without a byte in either direction the request fails, connecting included; a minute unless set,
    /// `nil` for no limit.
    ///
    /// Waiting for a free connection, for the reader of the response, or for the producer of the body does not count.
    public var idleTimeout: Duration? = .seconds(60)
    /// How long the whole request may take, up to the response's last byte; `nil`, the default, for no limit.
    public var timeout: Duration?
    /// Whether the server may compress the response, which the client then decompresses; no unless set.
    ///
    /// `Content-Length` and `Content-Encoding` of the response then refer to the compressed bytes.
    public var acceptsCompression = false

    /// Creates a request.
    public init(_ method: String, _ url: HTTPURL, headers: HTTPHeaders = HTTPHeaders(), body: HTTPBody = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

// MARK: - HTTPRequestCheck

/// Rejects invalid requests: a line break in a header would let its author inject another request, and a path that a proxy
/// resolves would let the author of a document's id have something else written or deleted.
enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// - Throws: ``TransportError`` with code `badRequest`, or `badURL` for a write to a path that is not exact.
    static func check(_ request: HTTPRequest) throws(TransportError) {
        guard HTTPSyntax.isToken(request.method) else { throw TransportError(.badRequest, "a method is one word") }
        guard ["GET", "HEAD", "OPTIONS"].contains(request.method) || HTTPPath.isExact(request.url.path) else {
            throw TransportError(
                .badURL,
                """
                a name in \(request.url.path) is empty, "." or "..", which proxies remove from a path; nothing was sent
                """)
        }
        if !request.body.isNone, ["GET", "HEAD"].contains(request.method) {
            throw TransportError(.badRequest, "\(request.method) has no body")
        }
        for field in request.headers.fields {
            guard HTTPSyntax.isToken(field.name) else {
                throw TransportError(.badRequest, "the name of a header is one word")
            }
            guard HTTPSyntax.isValue(field.value) else {
                throw TransportError(.badRequest, "the header \(field.name) has characters that end a line")
            }
            guard !own.contains(field.name.lowercased()) else {
                throw TransportError(.badRequest, "the header \(field.name) is set by the client itself")
            }
        }
    }
}

// MARK: - HTTPCompression

/// Compresses request bodies.
enum HTTPCompression {
    /// Bodies with fewer bytes are not compressed.
    private static let least = 1024

    /// The request with its body compressed, if that is bytes and large enough.
    static func compress(_ request: HTTPRequest) throws -> HTTPRequest {
        guard case .bytes(let bytes) = request.body.content, bytes.count >= least,
            request.headers["Content-Encoding"] == nil
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
