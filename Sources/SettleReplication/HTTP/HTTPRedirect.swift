/// Where answers lead, and what may go there.
enum HTTPRedirect {
    /// What another host may see of a request's headers: nothing that could be a secret.
    private static let harmless = [
        "Accept", "Accept-Encoding", "Accept-Language", "Range", "If-None-Match", "If-Match", "If-Modified-Since",
        "If-Range", "User-Agent",
    ]

    /// The request to send next; `nil` when the answer is to be handed to the caller.
    ///
    /// - Throws: ``HTTPClientError`` with code `badRedirect` where no request may go.
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
