/// Prevents cross-site request forgery: refuses requests that a page of another site may have made a browser send.
///
/// A browser sends cookies, stored passwords and certificates with any request to this server, also with a form of another
/// site's page. Most endpoints accept only JSON, which needs a CORS preflight. This is for the others: a `POST` with a
/// form's content type needs a sign that the page is one of this server, or that no browser sent it.
struct CrossSiteCheck: Sendable {
    let crossOrigin: CrossOriginOptions?

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - request: The request, which was sent as a `POST`.
    ///   - user: The authenticated user.
    /// - Throws: ``HTTPError`` with status 403.
    func check(_ request: HTTPRequest, _ user: User) throws {
        // A client adds a token itself; a browser never does.
        guard user.name != nil, user.handler != "jwt", Self.canBeForm(request),
            Self.isForeign(request), crossOrigin?.trusts(request) != true
        else { return }
        throw HTTPError.forbidden(
            "A page of another site may not send forms here; send application/json, or name its origin in the settings of CORS."
        )
    }

    /// Whether a browser sends it without a preflight.
    private static func canBeForm(_ request: HTTPRequest) -> Bool {
        let type = request.headers.bare("Content-Type")?.lowercased() ?? ""
        return ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"].contains(type)
    }

    /// Whether a browser says that a page of another origin sent it. A request without these headers comes from no browser of
    /// the last ten years, because each sends `Origin` with a `POST` to another origin.
    private static func isForeign(_ request: HTTPRequest) -> Bool {
        if let site = request.headers["Sec-Fetch-Site"] { return !["same-origin", "none"].contains(site) }
        guard let from = request.headers["Origin"] ?? request.headers["Referer"] else { return false }
        // The scheme is not compared, because a proxy may terminate TLS for this server.
        let parts = from.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        // A form can't set the host headers of a proxy.
        let hosts = ["Host", "X-Forwarded-Host"].compactMap { request.headers[$0]?.lowercased() }
        return parts.count < 3 || !hosts.contains(parts[2].lowercased())
    }
}
