internal import SettleCore

/// A login to CouchDB.
struct SessionLogin: Sendable {
    let server: HTTPURL
    let user: String
    let password: String
    let client: any HTTPClient

    /// Logs in.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: The session's cookie.
    /// - Throws: ``CouchDBError`` if the server refuses, ``HTTPClientError`` if it can't be reached.
    func cookie(now: Double) async throws -> RenewedSecret.Secret {
        let body: JSON = ["name": .string(user), "password": .string(password)]
        let request = HTTPClientRequest(
            "POST", server.appending("_session"),
            headers: ["Content-Type": "application/json", "Accept": "application/json"], body: .bytes(body.utf8))
        let response = try await client.send(request)
        let tried = Credentials.session(user: user, password: "").description
        guard response.status < 300 else {
            throw try await CouchDBError(reading: response, of: request, tried: tried)
        }
        _ = try await response.collect(limit: 64 * 1024)
        guard let cookie = SessionCookie.read(response.headers, now: now) else {
            throw CouchDBError(
                status: response.status, error: "no_session", reason: "the login was answered without a cookie",
                method: request.method, path: request.url.path, retryAfter: nil, tried: tried)
        }
        return cookie
    }
}
