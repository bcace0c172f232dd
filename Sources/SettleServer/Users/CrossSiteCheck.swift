internal import SettleHTTP

/// Prevents cross-site request forgery: refuses requests that a page of another site may have made a browser send.
///
/// A browser sends cookies, stored passwords and certificates with every request to this server, even with a form
/// of another site's page.
///
///     a session by cookie       no request of another origin that changes something
///     logging in                no request of another origin, which would log somebody in as somebody else
///     a password, otherwise     no form of another origin; other bodies are JSON, which needs a CORS preflight
///     opening a WebSocket       no page of another origin, because a browser sends no preflight request before it
///
/// Origins in the CORS settings may send all of these.
struct CrossSiteCheck: Sendable {
    let crossOrigin: CrossOriginOptions?

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - method: The method that was sent, not the one that a POST may carry.
    ///   - user: The authenticated user.
    /// - Throws: ``HTTPError`` with status 403.
    func check(_ request: ServerRequest, _ method: String, _ user: User) throws {
        guard Self.changesSomething(method), concerns(request, method, user), Self.isForeign(request),
            crossOrigin?.trusts(request) != true
        else { return }
        throw HTTPError.forbidden(
            """
            A page of another site may not send this here: name its origin in the settings of CORS. A program sends \
            application/json without a cookie.
            """)
    }

    /// Checks a request to open a WebSocket, with any kind of authentication. Clients other than browsers send no
    /// `Origin`.
    ///
    /// - Throws: ``HTTPError`` with status 403.
    func checkHandshake(_ request: ServerRequest) throws {
        let isForeign = request.headers["Origin"].map { !Self.isOwn($0, request) } ?? Self.isForeign(request)
        guard isForeign, crossOrigin?.trusts(request) != true else { return }
        throw HTTPError.forbidden(
            """
            A page of another site may not open a WebSocket here: name its origin in the settings of CORS, and allow \
            credentials.
            """)
    }

    /// Whether a method may change something.
    static func changesSomething(_ method: String) -> Bool {
        method != "GET" && method != "HEAD" && method != "OPTIONS"
    }

    private func concerns(_ request: ServerRequest, _ method: String, _ user: User) -> Bool {
        if user.handler == "cookie" || request.target.segments == ["_session"] { return true }
        // A client adds a token itself; a browser never does.
        return method == "POST" && user.name != nil && user.handler != "jwt" && Self.canBeForm(request)
    }

    /// Whether a browser may send the request without a preflight.
    private static func canBeForm(_ request: ServerRequest) -> Bool {
        let type = request.headers.bare("Content-Type")?.lowercased() ?? ""
        return ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"].contains(type)
    }

    /// Whether the browser reports that a page of another origin sent the request. A request without these headers
    /// does not come from a browser of the last ten years, because each sends `Origin` with a `POST` to another
    /// origin.
    private static func isForeign(_ request: ServerRequest) -> Bool {
        if let site = request.headers["Sec-Fetch-Site"] { return !["same-origin", "none"].contains(site) }
        guard let from = request.headers["Origin"] ?? request.headers["Referer"] else { return false }
        return !isOwn(from, request)
    }

    /// Whether a page's origin or URL has the host to which the request was sent.
    private static func isOwn(_ page: String, _ request: ServerRequest) -> Bool {
        // The scheme is not compared, because a proxy may terminate TLS for this server.
        let parts = page.lowercased().split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, !parts[2].isEmpty else { return false }
        let authority = String(parts[2])
        let hosts = [request.headers["Host"], request.route.host].compactMap { $0?.lowercased() }
        // The default port may be omitted.
        let port = parts[0] == "https:" ? ":443" : ":80"
        return hosts.contains(authority) || hosts.contains(authority + port)
            || authority.hasSuffix(port) && hosts.contains(String(authority.dropLast(port.count)))
    }
}
