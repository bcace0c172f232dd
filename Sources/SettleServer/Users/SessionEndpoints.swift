internal import SettleCore
internal import SettleHTTP
internal import SettlePlatform

/// Sessions: logging in and out.
enum SessionEndpoints {
    /// `GET /_session`
    static let read: Endpoint = .work(\.authenticator) { authenticator, context in
        let user = context.user
        if user.name == nil, context.query["basic"] == "true" { throw HTTPError.unauthorized("Please login.") }
        var info: [(String, JSONValue)] = [
            ("authentication_handlers", .array(authenticator.handlers.map(JSONValue.string)))
        ]
        if let handler = user.handler { info.append(("authenticated", .string(handler))) }
        return .json([
            "ok": true,
            "userCtx": [
                "name": user.name.map(JSONValue.string) ?? .null, "roles": .array(user.roles.map(JSONValue.string)),
            ],
            "info": .object(JSONObject(info)),
        ])
    }

    /// `POST /_session`
    static let login: Endpoint = .work(\.authenticator) { authenticator, context in
        let (name, password, code) = try credentials(context)
        let deferred = Promise<HTTPResponse>()
        authenticator.login(name, Array(password.utf8), code: code, peer: context.request.peer) { result in
            do {
                deferred.fulfil(try answer(to: context, authenticator, result.get()))
            } catch { deferred.fulfil(.error(HTTPError(error))) }
        }
        return HTTPResponse(status: 200, body: .later(deferred))
    }

    private static func answer(
        to context: RequestContext, _ authenticator: Authenticator, _ account: Account?
    ) throws -> HTTPResponse {
        guard let account else {
            var response = try redirected(context, "fail", .error(.wrongPassword))
            response.headers["Set-Cookie"] = authenticator.cookies(for: context.request).cleared()
            return response
        }
        let told: JSONValue = [
            "ok": true, "name": .string(account.name), "roles": .array(account.roles.map(JSONValue.string)),
        ]
        var response = try redirected(context, "next", .json(told))
        response.headers["Set-Cookie"] = authenticator.cookies(for: context.request).header(
            account.name, salt: account.salt, secret: authenticator.administration.secret)
        return response
    }

    /// `DELETE /_session`
    static let logout: Endpoint = .work(\.authenticator) { authenticator, context in
        var response = try redirected(context, "next", .ok())
        response.headers["Set-Cookie"] = authenticator.cookies(for: context.request).cleared()
        return response
    }

    /// Redirects the client to the path in the query, which must be on this server.
    private static func redirected(
        _ context: RequestContext, _ name: String, _ response: HTTPResponse
    ) throws -> HTTPResponse {
        guard let path = context.query[name] else { return response }
        // After two slashes a browser would read the name of another host.
        guard path.hasPrefix("/"), !path.hasPrefix("//"), !path.hasPrefix("/\\"),
            !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else {
            throw HTTPError.badRequest("path must begin with a /.")
        }
        var response = response
        response.status = 302
        response.headers["Location"] = (context.origin ?? "") + path
        return response
    }

    private static func credentials(
        _ context: RequestContext
    ) throws -> (name: String, password: String, code: String) {
        let type = context.request.headers["Content-Type"] ?? ""
        let form: [(name: String, value: String)]
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let text = String(decoding: try context.body(), as: UTF8.self)
            form = HTTPQuery(form: text[...]).items
        } else if type.hasPrefix("application/json") {
            guard let object = try JSONValue(utf8: context.body()).object else {
                throw HTTPError.badRequest("Request body must be a JSON object")
            }
            form = object.compactMap { member in member.value.string.map { (member.name, $0) } }
        } else {
            throw HTTPError.contentType(
                "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'")
        }
        let value = { (name: String) in form.first { $0.name == name }?.value }
        guard let name = value("username") ?? value("name") else {
            throw HTTPError.badRequest("request body must contain a username")
        }
        if let other = value("name"), other != name {
            throw HTTPError.badRequest("request body contains different usernames")
        }
        return (name, value("password") ?? "", value("token") ?? "")
    }
}
