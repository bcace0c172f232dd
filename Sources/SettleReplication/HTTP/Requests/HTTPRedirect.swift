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
        throw TransportError(.badRedirect, "\(request.url.authority) leads on and on")
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
