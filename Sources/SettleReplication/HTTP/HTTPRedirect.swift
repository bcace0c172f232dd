/// Follows redirects, and decides which headers to send on.
enum HTTPRedirect {
    /// The headers that another host may see: none that could be a secret.
    private static let harmless = [
        "Accept", "Accept-Encoding", "Accept-Language", "Range", "If-None-Match", "If-Match", "If-Modified-Since",
        "If-Range", "User-Agent",
    ]

    /// The next request; `nil` if the response is not a redirect to follow.
    ///
    /// - Throws: ``HTTPClientError`` with code `badRedirect` for a redirect that is not allowed.
    static func next(
        _ request: HTTPClientRequest, _ response: HTTPClientResponse
    ) throws(HTTPClientError) -> HTTPClientRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status), ["GET", "HEAD"].contains(request.method),
            request.body.isNone, let location = response.headers["Location"]
        else { return nil }
        let place = request.url.authority
        let url: HTTPURL
        do throws(HTTPClientError) {
            url = try request.url.resolving(location: location)
        } catch {
            throw HTTPClientError(.badRedirect, "\(place) leads to what is no address", cause: error)
        }
        guard request.url.scheme == .http || url.scheme == .https else {
            throw HTTPClientError(.badRedirect, "\(place) leads from https to \(url.authority) in the open")
        }
        var next = request
        next.url = url.withoutCredentials
        if !url.hasSameOrigin(as: request.url) { next.headers = request.headers.only(harmless) }
        return next
    }
}
