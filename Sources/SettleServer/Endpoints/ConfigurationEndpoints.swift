internal import RevisionTree
internal import SettleDatabase

/// What can be configured while the server runs: one switch, and nothing that names a program, a path or a person.
enum ConfigurationEndpoints {
    /// `GET /_node/{node}/_config/{section}/{key}`
    static let read: Endpoint = { context in
        try check(context)
        return .json(.string(context.server.isUsersSecurityEditable.withLock { "\($0)" }))
    }

    /// `PUT /_node/{node}/_config/{section}/{key}`
    static let put: Endpoint = { context in
        try check(context)
        guard let text = try context.json().string, let value = Bool(text) else {
            throw HTTPError.badRequest("the value must be \"true\" or \"false\"")
        }
        return exchange(value, context)
    }

    /// `DELETE /_node/{node}/_config/{section}/{key}`
    static let delete: Endpoint = { context in
        try check(context)
        return exchange(context.server.options.security.isUsersSecurityEditable, context)
    }

    private static func exchange(_ value: Bool, _ context: RequestContext) -> HTTPResponse {
        let old = context.server.isUsersSecurityEditable.withLock { current in
            defer { current = value }
            return current
        }
        return .json(.string("\(old)"))
    }

    private static func check(_ context: RequestContext) throws {
        guard ["_local", "nonode@nohost"].contains(context.parameter("node")),
            context.parameter("section") == "couchdb", context.parameter("key") == "users_db_security_editable"
        else { throw HTTPError.forbidden("This can't be configured while the server runs.") }
    }
}
