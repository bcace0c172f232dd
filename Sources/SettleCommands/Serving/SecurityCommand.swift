internal import Settle
internal import SettleHTTP

/// `settle security`: shows and sets who may use a database.
enum SecurityCommand: Command {
    /// An option that adds or removes a name or role.
    private struct Change {
        let option: String
        let group: String
        let list: String
        let adds: Bool

        var noun: String { list == "roles" ? "role" : "user" }
    }

    private static let changes = ["admins", "members"].flatMap { group in
        [true, false].flatMap { adds in
            ["names", "roles"].map { list in
                Change(
                    option: "--" + (adds ? "" : "remove-") + group.dropLast() + (list == "roles" ? "-role" : ""),
                    group: group, list: list, adds: adds)
            }
        }
    }

    static let spec = CommandSpec(
        "security", "show and set the members and administrators of a database",
        discussion: """
            Members read and write documents; administrators of a database also change design documents and this list. A user \
            belongs to a group by name or by role. A database without members is open to everybody, also without a \
            login; a new one is for the server's administrators only, who may do everything anywhere.
            The rules hold at a server; in a folder, the permissions of its files decide. Changes are made to the list as it is \
            stored, and it is shown afterwards. `settle users` manages the users.
            """,
        operands: [.database],
        options: changes.map { change in
            let words = change.adds ? "add a \(change.noun)" : "remove a \(change.noun)"
            let group = change.group == "admins" ? "administrators" : "members"
            return Option(
                change.option, value: change.list == "roles" ? "ROLE" : "NAME", isRepeatable: true,
                "\(words) \(change.adds ? "to" : "from") the \(group)")
        } + [Option("--everybody", "remove all members, so that everybody may read and write")],
        examples: [
            CommandSpec.Example("settle security https://admin@couch.example/groceries", "who may use it"),
            CommandSpec.Example(
                "settle security https://admin@couch.example/groceries --member anna --member-role family",
                "lets anna and the family use it"),
            CommandSpec.Example(
                "settle security https://admin@couch.example/groceries --remove-member anna --admin bob",
                "several changes at once"),
        ],
        json: """
            the object of CouchDB's _security: {"admins":{"names":[…],"roles":[…]},"members":{"names":[…],"roles":[…]}}, with \
            any other members it has
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        if arguments.flag("--everybody") {
            for change in changes where change.group == "members" {
                try arguments.refuse("--everybody", with: change.option)
            }
        }
        for change in changes where arguments.texts(change.option).contains("") {
            throw CommandError.usage("\(change.option) needs a name", verb: spec.name)
        }
        return try invocation.withClient { client in
            let stored = try client.json("GET", "_security")
            var security = normal(stored)
            let before = security
            if arguments.flag("--everybody") { security["members"] = ["names": [], "roles": []] }
            for change in changes {
                for name in arguments.texts(change.option) { try make(change, name, in: &security) }
            }
            if security != before { try client.json("PUT", "_security", body: security) }
            try invocation.console.print(text(security), json: security)
            return .success
        }
    }

    /// The object with all four lists, the other members as they are.
    private static func normal(_ stored: JSONValue) -> JSONValue {
        var security = stored.object ?? JSONObject()
        // `readers` is the former name of the members.
        let readers = security["readers"]
        security["readers"] = nil
        for group in ["admins", "members"] {
            var members = (security[group] ?? (group == "members" ? readers : nil))?.object ?? JSONObject()
            for list in ["names", "roles"] { members[list] = members[list] ?? [] }
            security[group] = .object(members)
        }
        return .object(security)
    }

    private static func make(_ change: Change, _ name: String, in security: inout JSONValue) throws {
        var group = security[change.group] ?? [:]
        var list = names(change.list, of: change.group, in: security)
        if change.adds {
            if !list.contains(name) { list.append(name) }
        } else {
            guard list.contains(name) else {
                let others = list.isEmpty ? "they have none" : "they have \(list.joined(separator: ", "))"
                throw CommandError.notFound(
                    "the \(change.group) have no \(change.noun) \"\(name)\"; \(others). Nothing was changed")
            }
            list.removeAll { $0 == name }
        }
        group[change.list] = .array(list.map { .string($0) })
        security[change.group] = group
    }

    private static func names(_ list: String, of group: String, in security: JSONValue) -> [String] {
        (security[group]?[list]?.array ?? []).compactMap(\.string)
    }

    private static func text(_ security: JSONValue) -> String {
        let rows = [
            ("Administrators", "admins", "those of the server"), ("Members", "members", "everybody"),
        ].map { title, group, none in
            let (users, roles) = (names("names", of: group, in: security), names("roles", of: group, in: security))
            let parts = [
                users.isEmpty ? nil : users.joined(separator: ", "),
                roles.isEmpty ? nil : "\(roles.count == 1 ? "role" : "roles") \(roles.joined(separator: ", "))",
            ].compactMap(\.self)
            return (title, parts.isEmpty ? none : parts.joined(separator: "; "))
        }
        return Columns.aligned(rows).joined(separator: "\n")
    }
}
