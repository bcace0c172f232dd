internal import SettleDatabase

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

// MARK: - TransportHeaders

/// The header fields of a request or response, in order; names are case-insensitive.
public struct TransportHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// The fields in order; a name may occur several times.
    public private(set) var fields: [(name: String, value: String)]

    /// Creates headers without fields.
    public init() { fields = [] }

    /// Creates headers from names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a name; setting it replaces all values, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append((name: name, value: newValue)) }
        }
    }

    /// All values of a name, in order.
    public func all(_ name: String) -> [String] { fields.filter { Self.matches($0.name, name) }.map(\.value) }

    /// Adds a field, keeping others of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append((name: name, value: value)) }

    /// Replaces fields with those of other headers.
    mutating func merge(_ other: TransportHeaders) {
        for field in other.fields { self[field.name] = nil }
        fields += other.fields
    }

    /// The fields with the given names.
    func only(_ names: [String]) -> TransportHeaders {
        var kept = TransportHeaders()
        kept.fields = fields.filter { field in names.contains { Self.matches($0, field.name) } }
        return kept
    }

    private static func matches(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension TransportHeaders: CustomStringConvertible, CustomReflectable {
    /// The names only, because values may be secret.
    public var description: String { fields.map(\.name).joined(separator: ", ") }

    /// The names only.
    public var customMirror: Mirror { Mirror(self, children: ["names": description], displayStyle: .struct) }
}

// MARK: - HTTPRequestCheck

/// Rejects invalid requests: a line break in a header would let its author inject another request, and a path that a proxy
/// resolves would let the author of a document's id have something else written or deleted.
enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// - Throws: ``TransportError`` with code `badRequest`, or `badURL` for a write to a path that is not exact.
    static func check(_ request: TransportRequest) throws(TransportError) {
        guard isToken(request.method) else { throw TransportError(.badRequest, "a method is one word") }
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

// MARK: - HTTPCompression

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
