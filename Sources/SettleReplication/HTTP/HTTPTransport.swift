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

// MARK: - TransportBody

/// The body of a response, in pieces as they arrive.
///
/// At most about 256 KiB are buffered, then the server has to wait: a slow reader slows the sender and does not fill
/// memory. A body can be read once, by one task at a time. If the sequence ends without throwing, the body is complete.
/// Releasing the body and all its iterators ends the transfer and frees its connection.
public struct TransportBody: AsyncSequence, Sendable {
    private let source: Source

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - next: The next piece, never empty, and `nil` at the end.
    ///   - onDrop: Called when the body and its iterators were released.
    public init(
        next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void = {}
    ) {
        source = Source(next: next, onDrop: onDrop)
    }

    /// Reads the rest of the body.
    ///
    /// - Parameter limit: How many bytes the rest may have.
    /// - Returns: Its bytes.
    /// - Throws: ``TransportError``; with code `bodyTooLarge` past the limit.
    public func collect(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        while let piece = try await source.next() {
            guard all.count + piece.count <= limit else {
                throw TransportError(.bodyTooLarge, "the answer has more than the \(limit) bytes that are allowed")
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// An iterator over the remaining pieces; all iterators of a body share them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// Iterates over the pieces of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next piece, never empty; `nil` at the end.
        ///
        /// - Throws: ``TransportError``; with code `cancelled` when the task is cancelled, which ends the transfer.
        public mutating func next() async throws -> [UInt8]? { try await source.next() }
    }

    fileprivate final class Source: Sendable {
        let next: @Sendable () async throws -> [UInt8]?
        private let onDrop: @Sendable () -> Void

        init(next: @escaping @Sendable () async throws -> [UInt8]?, onDrop: @escaping @Sendable () -> Void) {
            self.next = next
            self.onDrop = onDrop
        }

        deinit { onDrop() }
    }
}

// MARK: - HTTPRedirect

/// Follows redirects, and decides which headers to send on.
enum HTTPRedirect {
    /// The headers that another host may see: none that could be a secret.
    private static let harmless = [
        "Accept", "Accept-Encoding", "Accept-Language", "Range", "If-None-Match", "If-Match", "If-Modified-Since",
        "If-Range", "User-Agent",
    ]

    /// Sends a request, and what the responses redirect it to.
    ///
    /// - Throws: ``TransportError`` with code `badRedirect` for too many redirects, or one that is not allowed.
    static func follow(
        _ request: TransportRequest, _ options: TransportOptions,
        send: (TransportRequest) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        var request = request
        for _ in 0...max(0, options.redirects) {
            let response = try await send(request)
            guard let next = try next(request, response) else { return response }
            // Reading a short body to its end frees the connection.
            _ = try? await response.body.collect(limit: 64 * 1024)
            request = next
        }
        throw TransportError(.badRedirect, "\(request.url.authority) sent too many redirects")
    }

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
            throw TransportError(.badRedirect, "\(place) redirects to an invalid URL", cause: error)
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

// MARK: - HeaderClient

/// Sends headers with each request to one server.
struct HeaderClient: HTTPTransport {
    private let client: any HTTPTransport
    private let headers: TransportHeaders
    private let url: HTTPURL

    init(_ client: any HTTPTransport, _ headers: TransportHeaders, for url: HTTPURL) {
        (self.client, self.headers, self.url) = (client, headers, url)
    }

    var options: TransportOptions { client.options }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard !headers.fields.isEmpty, request.url.hasSameOrigin(as: url) else { return try await client.send(request) }
        var request = request
        request.headers.merge(headers)
        return try await client.send(request)
    }
}
