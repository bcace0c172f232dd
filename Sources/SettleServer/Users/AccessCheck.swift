internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// Decides which users may use which routes. No other code does.
///
/// Rights that depend on the written document are checked by ``WriteGuard``.
struct AccessCheck: Sendable {
    let options: SecurityOptions

    /// Throws unless the user may use the route.
    ///
    /// - Parameters:
    ///   - access: The right that the route requires; `nil` for a path without a route.
    ///   - user: The user of the request.
    ///   - path: The parts of the path.
    ///   - database: The database in the path.
    ///   - method: The method of the request.
    ///   - databases: The source of the databases' security objects.
    /// - Throws: ``HTTPError`` with status 401, 403 or 404; ``NotAtHand`` from databases that must not wait.
    func check(
        _ access: Route.Access?, _ user: User, path: [String], database: String?, method: String,
        in databases: any DatabaseSource
    ) throws {
        try checkAnonymous(user, path: path, method: method)
        // As in CouchDB, a name with a leading underscore belongs to the server, even if nothing has this name.
        if access == nil || path.first == database, let first = path.first, first.hasPrefix("_"),
            !["_users", "_replicator"].contains(first)
        {
            try checkServerAdmin(user)
        }
        if let database, ["_users", "_replicator"].contains(database), path.count > 1,
            ["_all_docs", "_changes"].contains(path[1])
        {
            return try checkServerAdmin(user)
        }
        guard let access else { return }
        switch access {
        case .anyone: return
        case .lister: if options.isListingForAdmins { try checkServerAdmin(user) }
        case .serverAdmin: try checkServerAdmin(user)
        case .metrics:
            guard user.isServerAdmin || user.roles.contains("_metrics") else {
                throw HTTPError.unauthorized("You are not a server admin or read-only metrics user")
            }
        case .member, .databaseAdmin, .settings:
            guard let database else { return try checkServerAdmin(user) }
            let security = try databases.security(of: database)
            try check(access, user, security)
            if ReplicatorDocuments.isReplicator(database) {
                try ReplicatorDocumentRules(user: user).checkPath(path, method: method)
            }
            if database == "_users", !security.isAdmin(user) {
                try UserDocumentRules.checkPath(path, method: method, user, publicFields: options.publicUserFields)
            }
        }
    }

    private func check(_ access: Route.Access, _ user: User, _ security: SecurityObject) throws {
        guard security.isMember(user) else {
            throw user.name == nil
                ? HTTPError.unauthorized("You are not authorized to access this db.")
                : HTTPError.forbidden("You are not allowed to access this db.")
        }
        guard access != .member, !security.isAdmin(user) else { return }
        guard access == .settings else { throw HTTPError.unauthorized("You are not a server or db admin.") }
        throw HTTPError.notAdmin(user)
    }

    /// What a user may do in a database with a security object, and why. The rules of `_users`, `_replicator` and single
    /// documents restrict it further.
    func standing(of user: User, _ security: SecurityObject) -> AccessStanding {
        // A server may refuse all requests without a login.
        if user.name == nil, options.anonymousAccess != .everywhere {
            return AccessStanding(reasons: [])
        }
        return AccessStanding(reasons: security.reasons(for: user))
    }

    private func checkServerAdmin(_ user: User) throws {
        guard user.isServerAdmin else { throw HTTPError.unauthorized("You are not a server admin.") }
    }

    private func checkAnonymous(_ user: User, path: [String], method: String) throws {
        guard user.name == nil, options.anonymousAccess != .everywhere else { return }
        if path == ["_session"], method == "POST" { return }
        // The console's files are part of the program.
        if path.first == "_utils", method == "GET" || method == "HEAD" { return }
        if path == ["_up"], options.anonymousAccess == .upOnly { return }
        throw HTTPError.unauthorized("Authentication required.")
    }
}

extension HTTPError {
    /// The error for a user who would have to be a database's administrator.
    static func notAdmin(_ user: User) -> HTTPError {
        let reason = "You are not a db or server admin."
        return user.name == nil ? .unauthorized(reason) : .forbidden(reason)
    }
}

// MARK: - AccessStanding

/// The rights of a user in a database, with their reasons.
struct AccessStanding: Sendable {
    /// A reason why a user has a right.
    struct Reason: Sendable, Hashable {
        /// What the user may do.
        enum Right: String, Sendable {
            case admin
            case member
        }

        /// What gives the right: the name or a role in the security object, a list of members that is empty, being an
        /// administrator of the server, or being an administrator of the database.
        enum Ground: Sendable, Hashable {
            case name(String)
            case role(String)
            case open
            case serverAdmin
            case admin
        }

        let right: Right
        let ground: Ground

        /// `{"right":"member","by":"role","value":"staff"}`
        var json: JSONValue {
            let (name, value): (String, String?) =
                switch ground {
                case .name(let name): ("name", name)
                case .role(let role): ("role", role)
                case .open: ("open", nil)
                case .serverAdmin: ("server_admin", nil)
                case .admin: ("admin", nil)
                }
            var json: JSONValue = ["right": .string(right.rawValue), "by": .string(name)]
            json["value"] = value.map { .string($0) }
            return json
        }
    }

    /// The reasons for both rights, those of administrators first.
    let reasons: [Reason]
    /// Whether there is a reason for the right of an administrator.
    var isAdmin: Bool { reasons.contains { $0.right == .admin } }
    /// Whether there is a reason for the right of a member.
    var isMember: Bool { reasons.contains { $0.right == .member } }
}

// MARK: - AccessEndpoints

/// What users may do in a database.
enum AccessEndpoints {
    /// `POST /{db}/_access`: what a user may do, by the stored security object or the one in the request. Nothing is
    /// written.
    ///
    /// A name without an account is judged without roles, and `null` is a request without a login.
    static let explain: Endpoint = .work(\.access) { access, context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(among: ["user", "security"])
        guard let given = members["user"] else {
            throw HTTPError.badRequest("`user` must be a name, or null for requests without a login")
        }
        let database = try context.database()
        let security = try members["security"].map { try SecurityObject($0) } ?? SecurityObject(of: database)
        let (user, isKnown) = try user(given, context)
        let standing = access.standing(of: user, security)
        return .json([
            "user": user.name.map(JSONValue.string) ?? .null, "known": .bool(isKnown),
            "roles": .array(user.roles.map(JSONValue.string)), "server_admin": .bool(user.isServerAdmin),
            "admin": .bool(standing.isAdmin), "member": .bool(standing.isMember),
            "reasons": .array(standing.reasons.map(\.json)),
        ])
    }

    private static func user(_ json: JSONValue, _ context: RequestContext) throws -> (user: User, isKnown: Bool) {
        if json.isNull { return (.anonymous, false) }
        guard let name = json.string, !name.isEmpty else {
            throw HTTPError.badRequest("`user` must be a name, or null for requests without a login")
        }
        do {
            let accounts = context.service(\.authenticator).accounts
            guard let account = try accounts.find(name, in: context.databases) else {
                return (User(name: name, roles: []), false)
            }
            return (User(name: name, roles: account.roles), true)
        } catch let error as HTTPError where error.status == 401 {
            // The document has a conflict. With 401 the client would believe that its own login failed.
            throw HTTPError(409, "conflict", error.reason)
        }
    }
}

// MARK: - AdmittedReaders

/// The credentials that were admitted lately to databases of a shared store.
///
/// A document is read ahead in the same round trip as the accounts and the rights, so before the rights are checked. That
/// is done for these credentials only, so the time that a refusal takes says nothing about a document.
final class AdmittedReaders: Sendable {
    /// The times of admission, by hashes with a secret of this process.
    private let known = Guarded<[Int: ContinuousClock.Instant]>([:])
    private static let limit = 4096
    private static let validity: Duration = .seconds(60)
    /// The names of the headers that have credentials, in lower case.
    private let headers: Set<String>

    init(_ options: SecurityOptions) {
        let proxy = options.proxy.map { [$0.nameHeader, $0.rolesHeader, $0.tokenHeader] } ?? []
        headers = Set((["Authorization", "Cookie"] + proxy).map { $0.lowercased() })
    }

    /// The document to read ahead for a request; `nil` if its sender was not admitted to its database within the last
    /// minute.
    func expected(of call: RoutedRequest) -> SharedRequest.Expected? {
        guard let expected = call.expected else { return nil }
        let key = key(call)
        return known.withLock { $0[key].map { $0 + Self.validity > .now } ?? false } ? expected : nil
    }

    /// Records that the sender of a request for a document was admitted to its database.
    func add(_ call: RoutedRequest) {
        guard call.expected != nil else { return }
        let key = key(call)
        known.withLock { known in
            if known.count >= Self.limit, known[key] == nil { known = [:] }
            known[key] = .now
        }
    }

    private func key(_ call: RoutedRequest) -> Int {
        var hasher = Hasher()
        hasher.combine(call.database)
        for field in call.request.headers.fields where headers.contains(field.name.lowercased()) {
            hasher.combine(field.name.lowercased())
            hasher.combine(field.value)
        }
        return hasher.finalize()
    }
}
