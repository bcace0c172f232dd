/// One HTTP request.
public struct TransportRequest: Sendable {
    /// The method, as in `GET`; `COPY` and others are sent as they are.
    public var method: String
    /// The address. Its user and password are not sent; see ``ReplicationCredentials``.
    public var url: HTTPURL
    /// The headers; the client sets `Host`, `Content-Length` and `Transfer-Encoding`.
    public var headers: TransportHeaders
    /// The body.
    public var body: TransportRequestBody
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
    public init(
        _ method: String, _ url: HTTPURL, headers: TransportHeaders = TransportHeaders(),
        body: TransportRequestBody = .none
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The body of a request.
public enum TransportRequestBody: Sendable {
    /// Makes the next piece of a body, and `nil` at the end.
    public typealias Producer = @Sendable () async throws -> [UInt8]?

    /// No body.
    case none
    /// Bytes.
    case bytes([UInt8])
    /// Pieces that are produced while they are sent, at the pace of the connection.
    ///
    /// A piece is requested after the previous one was sent, one at a time; a waiting producer blocks no thread. `open`
    /// is called once, and again only if the body has to be sent again from the start.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are, or `nil` if unknown: then the body is sent in chunks.
    ///   - open: Starts the body.
    case stream(length: Int64?, open: @Sendable () -> Producer)

    /// How many bytes there are; `nil` if unknown.
    var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let length, _): length
        }
    }

    /// Whether this is ``none``.
    var isNone: Bool { if case .none = self { true } else { false } }
}
