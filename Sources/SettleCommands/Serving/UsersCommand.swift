internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP

/// `settle users`: manages the users of a server.
enum UsersCommand: Command {
    /// The actions of the command.
    enum Action: String, CaseIterable {
        case list, add, password, roles, remove
    }

    static let spec = CommandSpec(
        "users", "list, add and remove the users of a server, set passwords and roles",
        discussion: """
            SERVER is the URL of a Settle server or a CouchDB, with the name of an administrator: users are documents of its \
            database _users. What a user may do is decided by each database: see `settle security`.
            A new password is never an argument: it is typed, or read from --new-password-file or SETTLE_NEW_PASSWORD. The \
            password of the administrator is read as at any URL.
            roles replaces all roles of a user; without any it prints them, and --none takes them all away. The \
            administrators of the whole server are in its settings, where their passwords are changed; a CouchDB, and a \
            server with live_settings, has them in the list.
            """,
        operands: [
            .action(Action.self),
            Operand("SERVER", takesURL: true, "the URL of a server"),
            Operand("NAME", isOptional: true, "the name of the user"),
            Operand("ROLE", isOptional: true, isRepeatable: true, "to add and roles: the roles of the user"),
        ],
        options: RemoteOptions.newPassword + [
            Option("--none", "to roles: take all roles away")
        ],
        examples: [
            CommandSpec.Example("settle users list http://admin@127.0.0.1:5984", "the users and their roles"),
            CommandSpec.Example(
                "settle users add http://admin@127.0.0.1:5984 anna editor",
                "adds anna with a role, and asks for a password"),
            CommandSpec.Example(
                "settle users password http://admin@127.0.0.1:5984 anna --new-password-file pw", "gives anna a new one"),
            CommandSpec.Example(
                "settle users roles http://admin@127.0.0.1:5984 anna editor reviewer", "sets the roles"),
            CommandSpec.Example("settle users remove http://admin@127.0.0.1:5984 anna", "deletes the user"),
        ],
        json: """
            of list and roles, one line each: {"name":…,"roles":[…]}, with "server_admin":true for administrators of the \
            server; of the others {"ok":true,"name":…}, with the "rev" of the user's document
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let action = try arguments.action(Action.self)
        try check(arguments, action)
        let place = try arguments.operand("SERVER")
        guard Invocation.isURL(place) else {
            throw CommandError.usage(
                "users are those of a server, so give its URL, such as http://127.0.0.1:5984", verb: spec.name)
        }
        let client = try Client(server: HTTPURL(place), arguments: arguments, console: invocation.console)
        let users = Users(client: client, invocation: invocation)
        if action == .list {
            try users.list()
            return .success
        }
        guard let name = arguments.optionalOperand("NAME"), !name.isEmpty else {
            throw CommandError.usage("NAME is missing", verb: spec.name)
        }
        let roles = arguments.operands("ROLE")
        switch action {
        case .list: break
        case .add: try users.add(name, roles)
        case .password: try users.setPassword(of: name)
        case .roles where roles.isEmpty && !arguments.flag("--none"): try users.showRoles(of: name)
        case .roles: try users.setRoles(of: name, roles)
        case .remove: try users.remove(name)
        }
        return .success
    }

    /// Refuses words that the action does not take.
    private static func check(_ arguments: Arguments, _ action: Action) throws {
        let fitting: [String: [Action]] = ["--none": [.roles], "--new-password-file": [.add, .password]]
        for (option, actions) in fitting where arguments.isGiven(option) && !actions.contains(action) {
            throw CommandError.usage(
                "\(option) is for \(actions.map(\.rawValue).joined(separator: " and "))", verb: spec.name)
        }
        let roles = arguments.operands("ROLE")
        if let role = roles.first, ![.add, .roles].contains(action) || arguments.flag("--none") {
            throw CommandError.usage("\"\(role)\" is an unexpected argument", verb: spec.name)
        }
        if let name = arguments.optionalOperand("NAME"), action == .list {
            throw CommandError.usage("\"\(name)\" is an unexpected argument", verb: spec.name)
        }
    }
}

// MARK: - Users

/// The users of a server: the documents of `_users`, and the administrators in its settings.
private struct Users {
    let client: Client
    let invocation: Invocation
    private static let prefix = "org.couchdb.user:"

    private var console: Console { invocation.console }

    func list() throws {
        var table = RowTable(console, titles: ["NAME", "ROLES"])
        func write(_ name: String, _ roles: [String], isServerAdmin: Bool = false) throws {
            if console.isJSON {
                var json = Self.json(name, roles)
                if isServerAdmin { json["server_admin"] = true }
                return try console.print(json.description)
            }
            try table.add([name, isServerAdmin ? "administrator of the server" : roles.joined(separator: ", ")])
        }
        for name in try serverAdmins().sorted() { try write(name, ["_admin"], isServerAdmin: true) }
        var range = DocumentRange()
        range.from = DocumentID(unchecked: Self.prefix)
        range.through = DocumentID(unchecked: Self.prefix + "\u{10FFFF}")
        try client.forEachDocument(in: range, limit: .max, withBodies: true) { document in
            guard document.id.string.hasPrefix(Self.prefix) else { return true }
            try write(String(document.id.string.dropFirst(Self.prefix.count)), Self.roles(of: document))
            return true
        }
        try table.finish()
        if table.count == 0 { try console.printNote("No user") }
    }

    func add(_ name: String, _ roles: [String]) throws {
        let id = try id(of: name)
        if try client.document(id) != nil { throw exists(name) }
        let password = try newPassword(of: name)
        let body: JSONValue = [
            "name": .string(name), "type": "user", "roles": .array(roles.map { .string($0) }),
            "password": .string(password),
        ]
        try report("Added \(name)", name, try client.save(id, try DocumentBody(body), on: nil))
    }

    func setPassword(of name: String) throws {
        let user = try user(name)
        var body = user.json
        body["password"] = .string(try newPassword(of: name))
        try report("Changed the password of \(name)", name, try client.save(user.id, try DocumentBody(body), on: user))
    }

    func showRoles(of name: String) throws {
        let roles = Self.roles(of: try user(name))
        if roles.isEmpty, !console.isJSON { return try console.printNote("No role") }
        try console.print(roles.joined(separator: "\n"), json: Self.json(name, roles))
    }

    func setRoles(of name: String, _ roles: [String]) throws {
        let user = try user(name)
        var body = user.json
        body["roles"] = .array(roles.map { .string($0) })
        try report("Changed the roles of \(name)", name, try client.save(user.id, try DocumentBody(body), on: user))
    }

    func remove(_ name: String) throws {
        try report("Removed \(name)", name, try client.delete(try user(name), keeping: []))
    }

    private func report(_ text: String, _ name: String, _ revision: RevisionID) throws {
        let json: JSONValue = ["ok": true, "name": .string(name), "rev": .string(revision.description)]
        if console.isJSON { try console.print(json.description) } else { try console.printNote(text) }
    }

    private func id(of name: String) throws -> DocumentID { try DocumentID(validating: Self.prefix + name) }

    private func user(_ name: String) throws -> Document {
        guard let user = try client.document(id(of: name)) else { throw try missing(name) }
        return user
    }

    private func missing(_ name: String) throws -> CommandError {
        try serverAdmins().contains(name)
            ? .notFound("\"\(name)\" is an administrator in the settings of the server, and is changed there")
            : .notFound("there is no user \"\(name)\"; `settle users list` lists them")
    }

    private func exists(_ name: String) -> CommandError {
        CommandError(
            "exists", "there is a user \"\(name)\" already; `settle users password` changes the password",
            status: .conflict)
    }

    private func newPassword(of name: String) throws -> String {
        try RemoteOptions(arguments: invocation.arguments, console: console).newPassword(of: name)
    }

    private static func roles(of user: Document) -> [String] {
        (user["roles"]?.array ?? []).compactMap(\.string)
    }

    private static func json(_ name: String, _ roles: [String]) -> JSONValue {
        ["name": .string(name), "roles": .array(roles.map { .string($0) })]
    }

    /// The administrators of the server; none where it does not show them.
    private func serverAdmins() throws -> [String] {
        let path = HTTPPath(segments: ["_node", "_local", "_config", "admins"])
        do { return (try client.serverJSON(path).object ?? JSONObject()).names } catch let error as CommandError
            where [.refused, .notFound].contains(error.status)
        { return [] }
    }
}
