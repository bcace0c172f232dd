internal import SettleDatabase
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
