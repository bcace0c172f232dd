/// Sends HTTP requests.
///
/// Use ``DefaultTransport``. Other implementations can replace the network, or work without one.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns when the head of its response has arrived; the body may still be arriving.
    ///
    /// A response with any status is returned. Redirects of `GET` and `HEAD` are followed.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response; releasing it ends the transfer.
    /// - Throws: ``TransportError``; with code `cancelled` if the task is cancelled before the response starts.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// The options of its connections, which a ``MobilePeer`` also uses for WebSockets to the same servers. By
    /// default, ``TransportOptions`` with its defaults.
    var options: TransportOptions { get }
}

extension HTTPTransport {
    /// The default options.
    public var options: TransportOptions { TransportOptions() }
}

#if canImport(CCurl)
/// The HTTP client of this system: ``CurlTransport`` on Linux, `URLSessionTransport` on Apple's systems.
public typealias DefaultTransport = CurlTransport
#else
/// The HTTP client of this system: ``URLSessionTransport``.
public typealias DefaultTransport = URLSessionTransport
#endif

// MARK: - HTTPRedirect

/// Follows redirects, and decides which headers to keep.
enum HTTPRedirect {
    /// The headers that another host may see. None of them can contain a secret.
    private static let harmless = [
        "Accept", "Accept-Encoding", "Accept-Language", "Range", "If-None-Match", "If-Match", "If-Modified-Since",
        "If-Range", "User-Agent",
    ]

    /// Sends a request, and follows the redirects of the responses.
    ///
    /// - Throws: ``TransportError`` with code `badRedirect` if there are too many redirects, or one is not allowed;
    ///   with code `timedOut` if they take longer than the request may.
    static func follow(
        _ request: HTTPRequest, _ options: TransportOptions,
        send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        var request = request
        let origin = request.url
        let deadline = request.deadline
        for _ in 0...max(0, options.redirects) {
            var response = try await send(request)
            // The caller would send another host's cookie to its own server.
            if !request.url.hasSameOrigin(as: origin) { response.headers["Set-Cookie"] = nil }
            guard let next = try next(request, response) else { return response }
            // Reading a short body to its end frees the connection.
            _ = try? await response.body.collect(limit: 64 * 1024)
            request = try next.remaining(until: deadline)
        }
        throw TransportError(.badRedirect, "\(request.url.authority) sent too many redirects")
    }

    /// The next request; `nil` if the response is not a redirect to follow.
    ///
    /// - Throws: ``TransportError`` with code `badRedirect` for a redirect that is not allowed.
    static func next(
        _ request: HTTPRequest, _ response: HTTPResponse
    ) throws(TransportError) -> HTTPRequest? {
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
package struct HeaderClient: HTTPTransport {
    private let client: any HTTPTransport
    private let headers: HTTPHeaders
    private let url: HTTPURL

    package init(_ client: any HTTPTransport, _ headers: HTTPHeaders, for url: HTTPURL) {
        (self.client, self.headers, self.url) = (client, headers, url)
    }

    package var options: TransportOptions { client.options }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard !headers.fields.isEmpty, request.url.hasSameOrigin(as: url) else { return try await client.send(request) }
        var request = request
        request.headers.merge(headers)
        return try await client.send(request)
    }
}
