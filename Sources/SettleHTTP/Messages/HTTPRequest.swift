internal import SettlePlatform

/// A request to send.
public struct HTTPRequest: Sendable {
    /// The method, like `GET`. `COPY` and other methods are sent unchanged.
    public var method: String
    /// The address. Its user and password are not sent.
    public var url: HTTPURL
    /// The headers; the client sets `Host`, `Content-Length` and `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody
    /// The maximum time for name resolution, connecting and the TLS handshake together; 30 seconds by default.
    public var connectTimeout: Duration = .seconds(30)
    /// The time without a byte in either direction after which the request fails, including connecting; a minute by
    /// default, `nil` for no limit.
    ///
    /// Waiting for a free connection, for the reader of the response, or for the producer of the body does not count.
    public var idleTimeout: Duration? = .seconds(60)
    /// The maximum time of the whole request with its redirects, until the response's last byte; `nil`, the default,
    /// for no limit.
    public var timeout: Duration?
    /// Whether the server may compress the response, which the client then decompresses; `false` by default.
    ///
    /// A near server is not asked to, see ``TransportOptions/compressesBeyond``.
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

extension HTTPRequest {
    /// The time at which the request times out if it is sent now; `nil` for no limit.
    var deadline: ContinuousClock.Instant? { timeout.map { ContinuousClock.now + $0.bounded } }

    /// A copy that times out at the deadline of the request that it belongs to, such as the one that was redirected.
    ///
    /// - Parameter deadline: The time at which that request times out; `nil` for no limit.
    /// - Returns: The request.
    /// - Throws: ``TransportError`` with code `timedOut` after the deadline.
    func remaining(until deadline: ContinuousClock.Instant?) throws(TransportError) -> HTTPRequest {
        guard let deadline else { return self }
        let rest = deadline - ContinuousClock.now
        guard rest > .zero else {
            throw TransportError(.timedOut, "the request to \(url.authority) took too long")
        }
        var copy = self
        copy.timeout = rest
        return copy
    }
}

// MARK: - HTTPRequestCheck

/// Rejects invalid requests. A line break in a header would let its author inject another request. A path that a
/// proxy resolves would let the author of a document's id write or delete something else.
package enum HTTPRequestCheck {
    /// Headers that the client sets, from the body and the address.
    private static let own: Set = ["host", "content-length", "transfer-encoding", "connection", "expect"]

    /// Checks a request before it is sent.
    ///
    /// - Throws: ``TransportError`` with code `badRequest`, or `badURL` for a write to a path that is not exact.
    package static func check(_ request: HTTPRequest) throws(TransportError) {
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

/// Decides what is compressed in a client's requests and responses, by server.
///
/// Compressing costs more than it saves on a short line, so a server is near for a minute after a response began within
/// ``TransportOptions/compressesBeyond``. A phone that leaves its home network finds the same server far then:
///
///     first request   compressed
///     later ones      near ─→ as they are;   far ─→ compressed
///     400 or 415      sent again as it is; if that helps, the server or a proxy does not know compressed bodies
final class HTTPCompression: Sendable {
    /// What is known of a host and port.
    private struct Server {
        /// When the last quick response stops counting.
        var nearUntil: ContinuousClock.Instant?
        var refusesBodies = false
    }

    /// The minimum size of a compressed body in bytes.
    private static let least = 1024

    private let options: TransportOptions
    /// How long a quick response counts.
    private let memory: Duration
    private let servers = Guarded<[String: Server]>([:])

    init(_ options: TransportOptions, memory: Duration = .seconds(60)) {
        (self.options, self.memory) = (options, memory)
    }

    /// Sends a request, with its body compressed if it is long JSON of a `POST` and the server is not near.
    func send(
        _ request: HTTPRequest, by send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let authority = request.url.authority
        let server = servers.withLock { $0[authority] } ?? Server()
        let isNear = server.nearUntil.map { .now < $0 } ?? false
        var request = request
        if isNear { request.acceptsCompression = false }
        guard options.compressesRequests, !isNear, !server.refusesBodies, let compressed = Self.compressed(request)
        else { return try await timed(request, by: send) }
        let deadline = request.deadline
        let response = try await timed(compressed, by: send)
        guard response.status == 400 || response.status == 415 else { return response }
        let plain = try await timed(request.remaining(until: deadline), by: send)
        if plain.status != response.status {
            servers.withLock { $0[authority, default: Server()].refusesBodies = true }
        }
        return plain
    }

    private func timed(
        _ request: HTTPRequest, by send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let begin = ContinuousClock.now
        let response = try await send(request)
        let end = ContinuousClock.now
        if end - begin < options.compressesBeyond {
            servers.withLock { $0[request.url.authority, default: Server()].nearUntil = end + memory }
        }
        return response
    }

    /// CouchDB decodes JSON. It stores an attachment as it arrives, so a `PUT`, which may be one, stays as it is.
    private static func compressed(_ request: HTTPRequest) -> HTTPRequest? {
        guard case .bytes(let bytes) = request.body.content, bytes.count >= least,
            request.method == "POST", request.headers.bare("Content-Type")?.lowercased() == "application/json",
            request.headers["Content-Encoding"] == nil,
            let compressed = try? Deflate.compress(bytes, .gzip, level: 5), compressed.count < bytes.count
        else { return nil }
        var copy = request
        copy.body = .bytes(compressed)
        copy.headers["Content-Encoding"] = "gzip"
        return copy
    }
}
