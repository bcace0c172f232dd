internal import RevisionTree
internal import SettleDatabase

/// How the server is configured, for its administrators to read, without secrets.
///
/// What can be changed while it runs is one switch, and nothing that names a program, a path or a person.
enum ConfigurationEndpoints {
    /// `GET /_node/{node}/_config`
    static let all: Endpoint = { context in
        .json(.object(JSONObject(try settings(context).sections.map { ($0.name, object($0.values)) })))
    }

    /// `GET /_node/{node}/_config/{section}`: a section that is not there has nothing in it, as in CouchDB.
    static let section: Endpoint = { context in .json(object(try values(context))) }

    /// `GET /_node/{node}/_config/{section}/{key}`
    static let read: Endpoint = { context in
        guard let found = try values(context).first(where: { $0.name == context.parameter("key") }) else {
            throw HTTPError.notFound("unknown_config_value")
        }
        return .json(.string(found.value))
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

    /// Sees that a path names this server, the only node there is.
    static func checkNode(_ context: RequestContext) throws {
        guard isHere(context) else { throw HTTPError.notFound("no such node: \(context.parameter("node"))") }
    }

    private static func isHere(_ context: RequestContext) -> Bool {
        ["_local", "nonode@nohost"].contains(context.parameter("node"))
    }

    private static func settings(_ context: RequestContext) throws -> VisibleSettings {
        try checkNode(context)
        let isEditable = context.server.isUsersSecurityEditable.withLock { $0 }
        return VisibleSettings(context.server.options, isUsersSecurityEditable: isEditable)
    }

    private static func values(_ context: RequestContext) throws -> [(name: String, value: String)] {
        try settings(context).sections.first { $0.name == context.parameter("section") }?.values ?? []
    }

    private static func object(_ values: [(name: String, value: String)]) -> JSON {
        .object(JSONObject(values.map { ($0.name, .string($0.value)) }))
    }

    private static func check(_ context: RequestContext) throws {
        guard isHere(context),
            context.parameter("section") == "couchdb", context.parameter("key") == "users_db_security_editable"
        else { throw HTTPError.forbidden("This can't be configured while the server runs.") }
    }
}
