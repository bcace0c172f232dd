package import SettleCore
internal import SettleDatabase
package import SettleHTTP
internal import SettlePlatform

/// A database or a server that speaks CouchDB's protocol, with credentials.
///
///     let remote = CouchDBConnection(database: try HTTPURL("https://anna:secret@couch.example/groceries"), client: client)
///     let info = try await remote.json("GET", "").json
///     let milk = try await remote.json("GET", .document("milk")).json
///
/// Responses with a status of 400 or more are thrown as ``CouchDBError``. An expired login or token is renewed
/// automatically, once per request, and a request that is refused after its credentials were replaced is sent with the
/// new ones. Nothing else is retried.
package struct CouchDBConnection: Sendable {
    /// The base address for paths, without user and password.
    package let url: HTTPURL
    private let client: any HTTPTransport
    /// Authorizes the requests of this connection and of its copies.
    private let current: Guarded<Authorizer>
    private let serverURL: HTTPURL

    /// A connection to a database.
    ///
    /// - Parameters:
    ///   - url: The address of the database.
    ///   - client: Sends the requests.
    ///   - credentials: The credentials; `nil` for the user and the password of the address, sent as basic
    ///     authentication.
    ///   - onWarning: Called before credentials are sent unencrypted to another machine; by default writes to
    ///     standard error.
    package init(
        database url: HTTPURL, client: any HTTPTransport, credentials: ReplicationCredentials? = nil,
        onWarning: (String) -> Void = { DatabaseOptions().warn($0) }
    ) {
        self.init(url, server: url.parent, client, credentials, onWarning)
    }

    /// A connection to a server; see ``init(database:client:credentials:onWarning:)``.
    package init(
        server url: HTTPURL, client: any HTTPTransport, credentials: ReplicationCredentials? = nil,
        onWarning: (String) -> Void = { DatabaseOptions().warn($0) }
    ) {
        self.init(url, server: url, client, credentials, onWarning)
    }

    private init(
        _ url: HTTPURL, server: HTTPURL, _ client: any HTTPTransport, _ credentials: ReplicationCredentials?,
        _ onWarning: (String) -> Void
    ) {
        let fromURL = url.user.map { ReplicationCredentials.basic(user: $0, password: url.password ?? "") }
        let credentials = credentials ?? fromURL ?? .automatic(for: url)
        self.url = url.withoutCredentials
        self.client = client
        serverURL = server.withoutCredentials
        current = Guarded(Authorizer(credentials, server: serverURL, client: client))
        if url.scheme == .http, !url.isLoopback, credentials.areReadable {
            onWarning("\(credentials) goes to \(url.authority) in the open: use https")
        }
    }

    private init(_ url: HTTPURL, of other: CouchDBConnection) {
        self.url = url
        (client, current, serverURL) = (other.client, other.current, other.serverURL)
    }

    /// The server of the database, with the same client and login.
    package var server: CouchDBConnection { CouchDBConnection(serverURL, of: self) }

    /// Replaces the credentials, also for requests that are in progress.
    func renew(_ credentials: ReplicationCredentials) {
        let authorizer = Authorizer(credentials, server: serverURL, client: client)
        current.withLock { $0 = authorizer }
    }

    /// The credentials; printing them shows no secret.
    package var credentials: ReplicationCredentials { current.withLock(\.self).credentials }

    /// Sends a request and reads the whole response.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below ``url``.
    ///   - query: The query parameters.
    ///   - body: The JSON to send; `nil`, the default, sends none.
    ///   - limit: The maximum size of the response in bytes; 64 MiB by default.
    ///   - adjust: Sets headers and timeouts.
    /// - Returns: The response.
    /// - Throws: ``CouchDBError`` for an error response. ``TransportError`` if there is no response, or with code
    ///   `badAnswer` if it is not JSON.
    package func json(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), body: JSONValue? = nil,
        limit: Int = 64 << 20,
        adjust: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> CouchDBAnswer {
        let bytes = body.map { HTTPBody.bytes($0.utf8) } ?? .none
        let response = try await stream(method, path, query: query, body: bytes) { request in
            request.acceptsCompression = true
            request.headers["Accept"] = "application/json"
            if body != nil { request.headers["Content-Type"] = "application/json" }
            adjust(&request)
        }
        let text = try await response.collect(limit: limit)
        guard !text.isEmpty else {
            return CouchDBAnswer(status: response.status, headers: response.headers, json: .null)
        }
        do throws(JSONError) {
            return CouchDBAnswer(
                status: response.status, headers: response.headers, json: try JSONValue(utf8: text))
        } catch {
            let place = "\(method) \(url.authority)\(url.appending(path).path)"
            throw TransportError(.badAnswer, "\(place) did not answer with JSON", cause: error)
        }
    }

    /// Sends a request and returns when the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below ``url``.
    ///   - query: The query parameters.
    ///   - body: The body to send; empty by default.
    ///   - adjust: Sets headers and timeouts.
    /// - Returns: The response with a status below 300, or 304. Its body may still be arriving.
    /// - Throws: ``CouchDBError`` for an error response, ``TransportError`` if there is no response.
    package func stream(
        _ method: String, _ path: HTTPPath, query: HTTPQuery = HTTPQuery(), body: HTTPBody = .none,
        adjust: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var plain = HTTPRequest(method, url.appending(path, query: query), body: body)
        plain.headers[NumberSpelling.header] = NumberSpelling.stored
        adjust(&plain)
        var sent = try await authorize(plain)
        var response = try await send(sent)
        if response.status == 401, hasOthers(than: sent, for: AuthenticationChallenge(response.headers)) {
            // Reading the response to its end frees its connection for the next request.
            _ = try? await response.collect(limit: 64 * 1024)
            sent = try await authorize(plain)
            response = try await send(sent)
        }
        guard response.status < 300 || response.status == 304 else {
            throw try await CouchDBError(reading: response, of: plain, tried: sent.authorizer.tried(at: plain.url))
        }
        return response
    }

    private func send(_ authorized: AuthorizedRequest) async throws -> HTTPResponse {
        let response = try await client.send(authorized.request)
        authorized.authorizer.adoptCookie(response.headers)
        return response
    }
}

// MARK: - Authorization

/// A request with credentials.
struct AuthorizedRequest {
    let request: HTTPRequest
    /// What has added the credentials.
    let authorizer: Authorizer
    /// The session or token in the request, if it can be renewed.
    let secret: String?
}

extension CouchDBConnection {
    /// Adds credentials to a request: the newest ones, even if others are replaced meanwhile.
    ///
    /// - Throws: Errors of a login, or of an app that makes tokens.
    func authorize(_ plain: HTTPRequest) async throws -> AuthorizedRequest {
        while true {
            let authorizer = current.withLock(\.self)
            var request = plain
            do {
                let secret = try await authorizer.authorize(&request)
                return AuthorizedRequest(request: request, authorizer: authorizer, secret: secret)
            } catch {
                // A login with the old password may fail because there is a new one.
                guard current.withLock(\.self) !== authorizer else { throw error }
            }
        }
    }

    /// Whether a request that the server has refused can be sent with other credentials: newer ones, a new session or
    /// token, or others that are stored for this server.
    func hasOthers(than refused: AuthorizedRequest, for challenge: AuthenticationChallenge?) -> Bool {
        let authorizer = refused.authorizer
        if let secret = refused.secret { authorizer.forget(secret) }
        if current.withLock(\.self) !== authorizer { return true }
        let areStored = challenge.map { authorizer.adopt($0, for: refused.request.url) } ?? false
        return areStored || refused.secret != nil
    }
}

/// The spelling of numbers in a server's documents.
///
/// A number may have more digits than a float, and all spellings of a float have the same revision id. CouchDB
/// sends the float's spelling. Settle's own programs exchange the stored spelling, so that all replicas have the
/// same body.
package enum NumberSpelling {
    /// The request header that asks for a spelling. Servers other than Settle ignore it.
    package static let header = "Settle-Numbers"
    /// The header's value for numbers as they are stored.
    package static let stored = "stored"
}

// MARK: - CouchDBAnswer

/// A complete response of a CouchDB server.
package struct CouchDBAnswer: Sendable {
    /// The status, below 400.
    package let status: Int
    /// The headers.
    package let headers: HTTPHeaders
    /// The body; `null` for an answer without a body.
    package let json: JSONValue

    /// The server's time when it responded, in seconds since 1970; `nil` if it did not send one.
    package var date: Double? { headers["Date"].flatMap { HTTPDate.seconds(of: $0) } }
}
