/// Refuses what a page of another site may have had a browser send in the name of the one who sits before it.
///
/// A browser sends cookies, passwords it has asked for, and a certificate with any request to this server, also with a form of
/// another site's page. Most endpoints take JSON alone, for which a browser asks first (CORS). This is for the others: a `POST`
/// of a type that a form can have needs a sign that the page is one of this server, or that no browser sent it.
struct CrossSiteCheck: Sendable {
    let crossOrigin: CrossOriginOptions?

    /// Lets a request pass.
    ///
    /// - Parameters:
    ///   - request: The request, which came as a `POST`.
    ///   - user: Who it is of.
    /// - Throws: ``HTTPError`` with status 403.
    func check(_ request: HTTPRequest, _ user: User) throws {
        // A token is put into a request by who sends it, and never by a browser.
        guard user.name != nil, user.handler != "jwt", Self.canBeForm(request),
            Self.isForeign(request), crossOrigin?.trusts(request) != true
        else { return }
        throw HTTPError.forbidden(
            "A page of another site may not send forms here; send application/json, or name its origin in the settings of CORS."
        )
    }

    /// Whether a browser sends it without asking first.
    private static func canBeForm(_ request: HTTPRequest) -> Bool {
        let type = request.headers.bare("Content-Type")?.lowercased() ?? ""
        return ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"].contains(type)
    }

    /// Whether a browser says that a page of another origin sent it. What has none of these headers is from no browser of the
    /// last ten years: each sends `Origin` with a `POST` to another origin.
    private static func isForeign(_ request: HTTPRequest) -> Bool {
        if let site = request.headers["Sec-Fetch-Site"] { return !["same-origin", "none"].contains(site) }
        guard let from = request.headers["Origin"] ?? request.headers["Referer"] else { return false }
        // The scheme is not compared: a proxy may speak TLS for this server.
        let parts = from.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        // What a proxy says of the host is no header that a form can have.
        let hosts = ["Host", "X-Forwarded-Host"].compactMap { request.headers[$0]?.lowercased() }
        return parts.count < 3 || !hosts.contains(parts[2].lowercased())
    }
}
