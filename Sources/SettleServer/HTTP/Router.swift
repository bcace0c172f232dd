internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Finds the endpoint of a request, checks access, and runs the endpoint on the right thread.
struct Router: Sendable {
    private let server: ServerState
    private let routes: RouteTree
    private let rules: ResponseRules
    /// The maximum size of a body whose request may be answered on the polling thread.
    private static let shortBody: Int64 = 16 << 10

    init(_ server: ServerState, routes: RouteTree = RoutingTable.tree) {
        self.server = server
        self.routes = routes
        rules = ResponseRules(server.options, server.live, server.metrics)
    }

    /// Answers a request; may block.
    func respond(to request: ServerRequest) -> HTTPResponse {
        respond(to: RoutedRequest(request, routes, server.requestIDs))
    }

    /// Answers a request of code in this process, which need not prove its rights; may block.
    func respond(to request: ServerRequest, as user: User) -> HTTPResponse {
        var call = RoutedRequest(request, routes, server.requestIDs)
        call.user = user
        return respond(to: call)
    }

    /// Answers a request if that needs no waiting. Otherwise changes nothing, and returns the work for a worker
    /// thread.
    ///
    /// Only reading endpoints are tried, with sources that can't wait. They throw ``NotAtHand`` for a database that
    /// is not open, a password that was not verified lately, a long document, and when all readers are in use. On a
    /// shared store every request has to ask the store first, so none is tried.
    func plan(_ request: ServerRequest) -> HTTPHandler.Plan {
        var call = RoutedRequest(request, routes, server.requestIDs)
        if !server.databases.isShared, let response = answerAtHand(&call) { return .answered(response) }
        return .work { [self, call] in respond(to: call) }
    }

    /// Decides from the head of a request whether to read the rest of a long body, and how long it may be: the sender must have the
    /// right to do what the request asks for. The right is checked again when the body has come, which may take hours.
    ///
    /// - Parameters:
    ///   - request: The request, without its body.
    ///   - then: Receives the decision, now or after a password was verified.
    func admit(_ request: ServerRequest, then: @escaping @Sendable (HTTPHandler.Admission) -> Void) {
        admit(RoutedRequest(request, routes, server.requestIDs), then)
    }

    private func admit(_ call: RoutedRequest, _ then: @escaping @Sendable (HTTPHandler.Admission) -> Void) {
        var call = call
        do {
            let route = try server.answering(about: call.database) { try admitted(&call).match.route }
            // The limit of now, which may be another than that of the start.
            let live = server.live.withLock(\.self)
            then(.admitted(route.body.bytes(call.request.method, server.options, live)))
        } catch let login as PendingLogin {
            goOn(after: login, call) { result in
                switch result {
                case .success(let call): admit(call, then)
                case .failure(let response): then(.refused(response))
                }
            }
        } catch {
            then(.refused(rules.finished(rules.failure(error, call), call)))
        }
    }

    /// The response to a request that arrives while the server stops. It needs no login and no waiting.
    func refuse(_ request: ServerRequest) -> HTTPResponse {
        let call = RoutedRequest(request, routes, server.requestIDs)
        let isUp = call.request.target.segments == ["_up"]
        return rules.finished(isUp ? ServerEndpoints.down(.stopping) : .error(.stopping), call)
    }

    private func respond(to call: RoutedRequest) -> HTTPResponse {
        var call = call
        var response: HTTPResponse
        do {
            let expected = server.databases.isShared ? server.readers.expected(of: call) : nil
            response = try server.answering(about: call.database, expecting: expected) {
                try rules.preflight(call.request) ?? answer(&call)
            }
        } catch let login as PendingLogin {
            let deferred = Promise<HTTPResponse>()
            goOn(after: login, call) { result in
                switch result {
                case .success(let call): deferred.fulfil(respond(to: call))
                case .failure(let response): deferred.fulfil(response)
                }
            }
            return HTTPResponse(status: 200, body: .later(deferred))
        } catch {
            response = rules.failure(error, call)
        }
        guard case .later(let deferred) = response.body.content else { return rules.finished(response, call) }
        response.body = .later(deferred.map { [self, call] in rules.finished($0, call) })
        return response
    }

    /// Verifies a password and then continues with the request on a thread that may block.
    private func goOn(
        after login: PendingLogin, _ call: RoutedRequest, _ then: @escaping @Sendable (LoginResult) -> Void
    ) {
        server.authenticator.finish(login) { [self] result in
            var call = call
            do {
                call.user = try result.get()
                then(.success(call))
            } catch { then(.failure(rules.finished(rules.failure(error, call), call))) }
        }
    }

    /// An authenticated request, or the response that refuses it.
    private enum LoginResult {
        case success(RoutedRequest)
        case failure(HTTPResponse)
    }

    /// The response of a reading endpoint to a request with a short body; `nil` if it would have to wait.
    private func answerAtHand(_ call: inout RoutedRequest) -> HTTPResponse? {
        guard let match = call.match, case .read(let endpoint)? = match.route.endpoint(call.request.method),
            let body = call.request.body as? BufferedBody, (body.declaredLength ?? .max) <= Self.shortBody
        else { return nil }
        // The worker would read the body again.
        if body.declaredLength != 0 { call.request.body = body.copy }
        defer { call.request.body = body }
        return server.databases.keeping(["_users", call.database ?? ""]) {
            do {
                let user = try call.user ?? server.authenticator.userAtHand(of: call.request)
                call.user = user
                try allow(&call, user, in: PromptDatabases(server.databases))
                return rules.finished(try renewing(user, endpoint(PromptContext(context(call, match, user)))), call)
            } catch is NotAtHand { return nil } catch { return rules.finished(rules.failure(error, call), call) }
        }
    }

    private func context(_ call: RoutedRequest, _ match: RouteTree.Match, _ user: User) -> RequestContext {
        RequestContext(
            server: server, request: call.request, parameters: match.parameters, user: user,
            query: call.request.target.query, longestBody: match.route.body.inMemory(server.options))
    }

    /// Adds the user's renewed cookie, if there is one.
    private func renewing(_ user: User, _ response: HTTPResponse) -> HTTPResponse {
        guard let cookie = user.renewedCookie, response.headers["Set-Cookie"] == nil else { return response }
        var response = response
        response.headers["Set-Cookie"] = cookie
        return response
    }

    private func answer(_ call: inout RoutedRequest) throws -> HTTPResponse {
        let (match, user) = try admitted(&call)
        if server.databases.isShared { server.readers.add(call) }
        try call.checkDeletion()
        guard let endpoint = match.route.endpoint(call.request.method) else {
            if let database = match.parameters["db"] { _ = try server.databases.open(database) }
            throw HTTPError.methodNotAllowed(match.route.allow)
        }
        let context = context(call, match, user)
        let answer = { @Sendable () throws -> HTTPResponse in try renewing(user, endpoint.answer(context)) }
        guard let scripts = server.scripts, try waitsForScripts(match.route, context) else { return try answer() }
        // Scripts take time, and other requests need this thread.
        let deferred = Promise<HTTPResponse>()
        let owner = try DesignDocuments.owner(of: context.database())
        scripts.threads.submit(for: owner) { [self, call, request = Freshness.request ?? SharedRequest()] in
            do {
                deferred.fulfil(try server.whileFresh(in: request, answer))
            } catch { deferred.fulfil(rules.failure(error, call)) }
        }
        return HTTPResponse(status: 200, body: .later(deferred))
    }

    /// Authenticates a request, and checks that its user may use its route. A path without a route is open to every
    /// user who may send requests, unless the path belongs to the server.
    private func admitted(_ call: inout RoutedRequest) throws -> (match: RouteTree.Match, user: User) {
        let user = try call.user ?? server.authenticator.user(of: call.request)
        call.user = user
        try allow(&call, user, in: server.databases)
        guard let match = call.match else { throw HTTPError.missing }
        return (match, user)
    }

    private func allow(_ call: inout RoutedRequest, _ user: User, in databases: any DatabaseSource) throws {
        guard !call.isAllowed else { return }
        let request = call.request
        // An HTML form can claim another method, but is still sent as POST.
        if CrossSiteCheck.changesSomething(call.method) {
            try CrossSiteCheck(crossOrigin: server.live.withLock(\.otherOrigins)).check(request, call.method, user)
        }
        try server.access.check(
            call.match?.route.access(request.method), user, path: request.target.segments,
            database: call.match?.parameters["db"], method: request.method, in: databases)
        call.isAllowed = true
    }

    /// Whether an endpoint has to wait for scripts.
    private func waitsForScripts(_ route: Route, _ context: RequestContext) throws -> Bool {
        switch route.scripts {
        case .never: return false
        case .always: return true
        case .filtering:
            guard let filter = context.query["filter"], !filter.isEmpty else { return false }
            return filter == "_view" || !filter.hasPrefix("_")
        case .writing:
            guard !["GET", "HEAD"].contains(context.request.method), context.parameters["db"] != nil else {
                return false
            }
            if context.parameters["design"] != nil { return true }
            // Creating or deleting a database has no documents to validate.
            if context.request.target.segments.count == 1, context.request.method != "POST" { return false }
            guard let database = try? context.database() else { return false }
            return try !DesignDocuments.validators(of: database).documents.isEmpty
        }
    }
}

// MARK: - RoutedRequest

/// A request and its properties, each of which is computed once.
struct RoutedRequest: Sendable {
    /// The request, with its effective method.
    var request: ServerRequest
    /// The method that was sent.
    let method: String
    /// The id of the request in the log: the client's own, if it has CouchDB's form, otherwise a new one.
    let id: String
    /// The time when the head or the whole request had arrived.
    let start = ContinuousClock.now
    /// The route of its path, if there is one.
    let match: RouteTree.Match?
    /// The name of the database in its path.
    var database: String? { match?.parameters["db"] }
    /// The user, after authentication.
    var user: User?
    /// Whether the user may use the route.
    var isAllowed = false

    init(_ request: ServerRequest, _ routes: RouteTree, _ ids: RequestIDs) {
        self.request = request
        self.request.method = Self.method(of: request)
        method = request.method
        let given = request.headers["X-Couch-Request-ID"]
        id = given.flatMap { RequestIDs.isID($0) ? $0 : nil } ?? ids.next()
        match = routes.match(request.target.segments)
    }

    /// The document that the answer reads first: that of the path, or of an update function.
    ///
    /// None of `_users` and the other databases of the server, whose rules are about single documents, and no design
    /// document, because both are also read for caches.
    var expected: SharedRequest.Expected? {
        guard let match, let database, !database.hasPrefix("_") else { return nil }
        let id: String?
        if match.parameters["design"] != nil, request.target.segments.dropFirst(3).first == "_update" {
            id = match.parameters["what"]?.split(separator: "/", maxSplits: 1).dropFirst().first.map(String.init)
        } else {
            id = match.parameters["doc"]
        }
        return id.flatMap { $0.hasPrefix("_") ? nil : SharedRequest.Expected(DocumentID(unchecked: $0), in: database) }
    }

    /// Checks that no name was lost from the path of a deletion.
    ///
    /// Browsers and proxies resolve `/db/.` to `/db/` and `/db/doc/.` to `/db/doc/`. So a trailing slash may be all
    /// that is left of the name of a document or an attachment, and the request would delete the database or
    /// document that contains it. PouchDB deletes databases by such a path, but declares the content type JSON,
    /// which a plain `DELETE` of a browser or a tool does not.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func checkDeletion() throws {
        guard request.method == "DELETE", database != nil, request.target.rawPath.hasSuffix("/") else { return }
        let isDatabase = request.target.segments.count == 1
        if isDatabase, request.headers.bare("Content-Type") == "application/json" { return }
        throw HTTPError.badRequest(
            "The path of this DELETE ends with a slash, so a name may have been removed from it. Nothing was deleted.")
    }

    /// The effective method: a POST may carry another one.
    private static func method(of request: ServerRequest) -> String {
        guard request.method == "POST", let override = request.headers["X-HTTP-Method-Override"] else {
            return request.method
        }
        return ["PUT", "DELETE", "GET", "HEAD", "POST", "COPY"].contains(override.uppercased())
            ? override.uppercased() : "POST"
    }
}
