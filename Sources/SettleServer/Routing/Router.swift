internal import SettleDatabase
internal import SettlePlatform

/// Finds the endpoint of a request, asks whether it may be used, and turns errors into answers.
struct Router: Sendable {
    private let server: ServerState
    private let routes: [Route]

    init(_ server: ServerState, routes: [Route] = RoutingTable.routes) {
        self.server = server
        self.routes = routes
    }

    /// Answers a request.
    func respond(to request: HTTPRequest) -> HTTPResponse {
        // Where it may wait, nothing says that it would have to.
        do { return try respond(to: request, by: match(request)) } catch { return .error(HTTPError(error)) }
    }

    /// Answers a request if that needs no waiting, else gives `nil` and has changed nothing.
    ///
    /// Only routes that say so are tried. Everything on the way to the answer that would wait asks ``Waiting`` first: a
    /// database that is not open, a password that was not verified lately, a long document, all readers being lent.
    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        guard let match = match(request), match.route.isQuick(request) else { return nil }
        return server.databases.keeping(["_users", match.parameters["db"] ?? ""]) {
            try? Waiting.forbidden { try respond(to: request, by: match) }
        }
    }

    /// Whether the rest of a request's long body is worth taking, and how long it may be: whether its sender has the right to
    /// do what the request asks for, as far as the head shows.
    func admit(_ request: HTTPRequest) -> HTTPHandler.Admission {
        var user: String?
        let id = requestID(of: request)
        do {
            let known = try server.authenticator.user(of: request)
            user = known.name
            let (route, parameters) = try check(request, by: match(request), known)
            let isStreamed = parameters["doc"] != nil || parameters["design"] != nil || parameters["local"] != nil
            guard method(of: request) == "PUT", isStreamed, route.endpoint("PUT") != nil else {
                return .admitted(Int64(server.options.largestBody))
            }
            return .admitted(server.options.largestUpload)
        } catch {
            return .refused(finished(failure(error, request, id), request, user, id))
        }
    }

    /// The route of a request, and what the words of its path are.
    private typealias Match = (route: Route, parameters: PathParameters)

    private func match(_ request: HTTPRequest) -> Match? {
        for route in routes {
            if let parameters = route.pattern.match(request.target.segments) { return (route, parameters) }
        }
        return nil
    }

    /// - Throws: ``WouldWait`` where it may not wait and would have to.
    private func respond(to request: HTTPRequest, by match: Match?) throws -> HTTPResponse {
        var response: HTTPResponse
        var user: String?
        let id = requestID(of: request)
        do { response = try preflight(request) ?? answer(request, by: match, &user, id) } catch let error as WouldWait {
            throw error
        } catch {
            response = failure(error, request, id)
        }
        guard case .later(let deferred) = response.body else { return finished(response, request, user, id) }
        response.body = .later(deferred.map { [self, user] in finished($0, request, user, id) })
        return response
    }

    /// The answer to an error, which is logged if it is the server's own fault.
    private func failure(_ error: any Error, _ request: HTTPRequest, _ id: String) -> HTTPResponse {
        let told = HTTPError(error)
        if told.status >= 500, told.status != 501 {
            server.options.log?.warning("\(told.status) \(told.error): \(error)", ["id": id])
        }
        return .error(challenged(told, request))
    }

    /// A response with what all have.
    private func finished(
        _ response: HTTPResponse, _ request: HTTPRequest, _ user: String?, _ id: String
    ) -> HTTPResponse {
        var response = response
        response.user = user
        server.live.withLock(\.otherOrigins)?.apply(to: &response, request)
        secure(&response)
        response.headers["Server"] = server.options.serverHeader
        response.headers["X-Couch-Request-ID"] = id
        response.headers["X-CouchDB-Body-Time"] = "0"
        server.metrics.answered(request.method, status: response.status)
        return response
    }

    private func answer(
        _ request: HTTPRequest, by match: Match?, _ name: inout String?, _ id: String
    ) throws -> HTTPResponse {
        let method = method(of: request)
        let target = request.target
        let user = try server.authenticator.user(of: request)
        name = user.name
        try CrossSiteCheck(crossOrigin: server.live.withLock(\.otherOrigins)).check(request, user)
        let (route, parameters) = try check(request, by: match, user)
        guard let endpoint = route.endpoint(method) else {
            if let database = parameters["db"] { _ = try server.databases.open(database) }
            throw HTTPError.methodNotAllowed(route.allow)
        }
        let meant = HTTPRequest(
            method: method, target: target, headers: request.headers, body: request.body, peer: request.peer)
        let context = RequestContext(
            server: server, request: meant, parameters: parameters, user: user, query: QueryParameters(target.query))
        let answer = { @Sendable () throws -> HTTPResponse in
            var response = try endpoint(context)
            if let cookie = user.renewedCookie, response.headers["Set-Cookie"] == nil {
                response.headers["Set-Cookie"] = cookie
            }
            return response
        }
        guard let scripts = server.scripts, try waitsForScripts(route, context) else { return try answer() }
        // Scripts take their time, and others need this thread.
        let deferred = DeferredResponse()
        let owner = try DesignDocuments.owner(of: context.database())
        scripts.threads.submit(for: owner) { [self] in
            do { deferred.fulfil(try answer()) } catch { deferred.fulfil(failure(error, request, id)) }
        }
        return HTTPResponse(status: 200, body: .later(deferred))
    }

    /// Sees that somebody may use a route. A path without a route is open to all who may send requests.
    private func check(_ request: HTTPRequest, by match: Match?, _ user: User) throws -> Match {
        let (path, method) = (request.target.segments, method(of: request))
        try server.access.check(
            match?.route.access(method) ?? .anyone, user, path: path, database: match?.parameters["db"], method: method)
        guard let match else { throw HTTPError.missing }
        return match
    }

    /// The id of a request: the client's, if it has CouchDB's form for one, else a new one.
    private func requestID(of request: HTTPRequest) -> String {
        let given = request.headers["X-Couch-Request-ID"]
        return given.flatMap { RequestIDs.isID($0) ? $0 : nil } ?? server.requestIDs.next()
    }

    /// Whether an endpoint may wait for scripts.
    private func waitsForScripts(_ route: Route, _ context: RequestContext) throws -> Bool {
        switch route.scripts {
        case .never: return false
        case .always: return !Waiting.isForbidden
        case .filtering:
            guard let filter = context.query["filter"], !filter.isEmpty else { return false }
            return filter == "_view" || !filter.hasPrefix("_")
        case .writing:
            guard !["GET", "HEAD"].contains(context.request.method), context.parameters["db"] != nil else {
                return false
            }
            if context.parameters["design"] != nil { return true }
            guard let database = try? context.database() else { return false }
            return try !DesignDocuments.validators(of: database).documents.isEmpty
        }
    }

    /// Has browsers take an answer for what it says it is, and run no script that somebody attached with the rights of
    /// whoever looks at it.
    private func secure(_ response: inout HTTPResponse) {
        response.headers["X-Content-Type-Options"] = "nosniff"
        guard let type = response.headers["Content-Type"], type != "application/json",
            response.headers.bare("Content-Type") != "application/json"
        else { return }
        response.headers["Content-Security-Policy"] = "sandbox"
    }

    private func preflight(_ request: HTTPRequest) -> HTTPResponse? {
        request.method == "OPTIONS" ? server.live.withLock(\.otherOrigins)?.preflight(request) : nil
    }

    /// An error with the challenge that has a browser ask for a password, where one is wanted.
    private func challenged(_ error: HTTPError, _ request: HTTPRequest) -> HTTPError {
        guard error.status == 401 else { return error }
        let security = server.options.security
        let isStrict = security.anonymousAccess != .everywhere
        guard
            let challenge = request.headers["X-CouchDB-WWW-Authenticate"] ?? security.challenge
                ?? (isStrict ? "Basic realm=\"server\"" : nil)
        else { return error }
        var error = error
        error.headers["WWW-Authenticate"] = challenge
        return error
    }

    /// The method; a POST may say that it means another one.
    private func method(of request: HTTPRequest) -> String {
        guard request.method == "POST", let override = request.headers["X-HTTP-Method-Override"] else {
            return request.method
        }
        return ["PUT", "DELETE", "GET", "HEAD", "POST", "COPY"].contains(override.uppercased())
            ? override.uppercased() : "POST"
    }
}
