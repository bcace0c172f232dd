internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The members and administrators of a database: its `_security`. A class, so that requests share its lists.
final class SecurityObject: Sendable {
    /// The stored object, with all its members.
    let json: JSONValue
    private let admins: Group
    private let members: Group

    private struct Group: Sendable {
        var names: [String] = []
        var roles: [String] = []
        var isEmpty: Bool { names.isEmpty && roles.isEmpty }

        func contains(_ user: User) -> Bool {
            if let name = user.name, names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { return true }
            return user.roles.contains { role in roles.contains { $0.utf8.elementsEqual(role.utf8) } }
        }

        /// The entries by which the group contains the user.
        func grounds(for user: User) -> [AccessStanding.Reason.Ground] {
            var grounds: [AccessStanding.Reason.Ground] = []
            if let name = user.name, names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
                grounds.append(.name(name))
            }
            for role in user.roles where roles.contains(where: { $0.utf8.elementsEqual(role.utf8) }) {
                grounds.append(.role(role))
            }
            return grounds
        }
    }

    /// The object of a new database: only administrators of the server have access.
    static let standard: JSONValue = ["members": ["roles": ["_admin"]], "admins": ["roles": ["_admin"]]]
    private static let setting = "security"

    /// Parses an object.
    ///
    /// - Throws: ``HTTPError`` with status 400 if names or roles are not lists of strings.
    init(_ json: JSONValue) throws {
        guard let object = json.object else { throw HTTPError.badRequest("Request body must be a JSON object") }
        self.json = json
        admins = try Self.group(object["admins"])
        // `readers` is the former name of `members`.
        members = try Self.group(object["members"] ?? object["readers"])
    }

    /// Reads the object of a database. An unreadable object gives access to no one.
    convenience init(of database: Database) throws {
        let text = try database.setting(Self.setting)
        try self.init(text.map { try JSONValue(parsing: $0) } ?? Self.standard)
    }

    /// Stores the object in a database.
    func store(in database: Database) throws { try database.setSetting(Self.setting, to: "\(json)") }

    /// Whether the user is an administrator of the database.
    func isAdmin(_ user: User) -> Bool { user.isServerAdmin || admins.contains(user) }

    /// Whether the user may read and write documents.
    func isMember(_ user: User) -> Bool { isAdmin(user) || members.isEmpty || members.contains(user) }

    /// The reasons for the user's rights: all entries that give them, so that nobody removes only one of two.
    func reasons(for user: User) -> [AccessStanding.Reason] {
        let byServer: [AccessStanding.Reason.Ground] = user.isServerAdmin ? [.serverAdmin] : []
        let forAdmin = byServer + admins.grounds(for: user)
        let byAdmin: [AccessStanding.Reason.Ground] = forAdmin.isEmpty ? [] : [.admin]
        let forMember = byAdmin + (members.isEmpty ? [.open] : members.grounds(for: user))
        return forAdmin.map { AccessStanding.Reason(right: .admin, ground: $0) }
            + forMember.map { AccessStanding.Reason(right: .member, ground: $0) }
    }

    private static func group(_ json: JSONValue?) throws -> Group {
        guard let json else { return Group() }
        guard let object = json.object else {
            throw HTTPError.badRequest("admins or members must be a JSON list of strings")
        }
        return Group(names: try list(object, "names"), roles: try list(object, "roles"))
    }

    private static func list(_ object: JSONObject, _ name: String) throws -> [String] {
        guard let value = object[name] else { return [] }
        guard let list = value.array else { throw HTTPError.badRequest("\(name) must be a JSON list of strings") }
        return try list.map { item in
            guard let text = item.string else { throw HTTPError.badRequest("\(name) must be a JSON list of strings") }
            return text
        }
    }
}

// MARK: - SecurityEndpoints

/// The endpoints of a database's security object.
enum SecurityEndpoints {
    /// `GET /{db}/_security`
    static let read: Endpoint = .work { context in .json(try SecurityObject(of: context.database()).json) }

    /// `PUT /{db}/_security`
    static let put: Endpoint = .work { context in
        let database = try context.database()
        if context.parameter("db") == "_users", !context.live.isUsersSecurityEditable {
            throw HTTPError.forbidden("You can't edit the security object of the user database.")
        }
        try SecurityObject(context.json()).store(in: database)
        return .ok()
    }
}
