internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettleServer

/// `settle diff`: compares two databases, or two revisions of a document.
enum DiffCommand: Command {
    static let spec = CommandSpec(
        "diff", "compare two databases, or two revisions of a document",
        discussion: """
            With one more database, folder or URL, it lists the documents that only one of them has, and those whose winners \
            or other leaves differ; what a sync of both would change, and what a restored copy lacks. Deleted documents \
            count as missing unless --deleted compares their revisions too. Bodies are not read: equal revisions have equal \
            content. One line of each document of the first database is held in memory.
            With the id of a document and a revision, it lists the members that differ between that revision and another \
            one, by default the current one. `settle tree` lists revisions, and `settle show` compares the leaves of a \
            conflict.
            The exit code is 0 if there is no difference, and 1 if there is one.
            """,
        operands: [
            .database, Operand("OTHER", takesURL: true, "the other database; or the id of a document"),
            Operand("REV", isOptional: true, "with an id: a revision of the document"),
            Operand("REV2", isOptional: true, "with an id: the other revision (default: the current one)"),
        ],
        options: [Option("--deleted", "compare deleted documents, too")],
        examples: [
            CommandSpec.Example(
                "settle diff groceries https://anna@couch.example/groceries", "what a sync would change"),
            CommandSpec.Example("settle diff groceries restored --deleted", "whether a copy is complete"),
            CommandSpec.Example(
                "settle diff groceries milk 1-967a00dff5e02add41819138abb3284d", "what was changed since this revision"),
            CommandSpec.Example(
                "settle diff groceries milk 1-967a00dff5e02add41819138abb3284d 2-7051cbe5c8faecd085a3fa619e6e6337 --json",
                "two revisions, for a script"),
        ],
        json: """
            of databases, one line for each document that differs: {"id":…,"difference":"only_first", "only_second", "winners" \
            or "leaves","first":{"rev":…,"leaves":[…]} or null,"second":the same}, with "deleted":true where the winner is a \
            tombstone; of revisions {"id":…,"first":{"rev":…},"second":{"rev":…},"changes":[{"path":…,"kind":"changed", \
            "added" or "removed","first":value,"second":value} …]}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        if arguments.optionalOperand("REV") == nil { return try DatabaseDifferences(invocation).run() }
        if arguments.flag("--deleted") {
            throw CommandError.usage("--deleted is for two databases", verb: spec.name)
        }
        let id = try DocumentID(validating: arguments.operand("OTHER"))
        let first = try RevisionID(validating: arguments.operand("REV"))
        let second = try arguments.optionalOperand("REV2").map { try RevisionID(validating: $0) }
        return try invocation.withClient(warns: false) { client in
            let state = try client.state(of: id, with: [first, second].compactMap(\.self))
            return try compare(
                GetCommand.document(state, first), GetCommand.document(state, second), invocation.console)
        }
    }

    private static func compare(_ first: Document, _ second: Document, _ console: Console) throws -> ExitStatus {
        let (before, after) = (first.comparable, second.comparable)
        let rows = MemberDifference.between(first, second).map { difference in
            (difference, before.value(at: difference.path), after.value(at: difference.path))
        }
        let isSame = rows.isEmpty && first.isDeleted == second.isDeleted
        if console.isJSON {
            func json(_ document: Document) -> JSONValue {
                var json: JSONValue = ["rev": .string(document.revision?.description ?? "")]
                if document.isDeleted { json["deleted"] = true }
                return json
            }
            let changes = rows.map { difference, old, new -> JSONValue in
                var row: JSONValue = ["path": .string(difference.path), "kind": .string(difference.kind.rawValue)]
                row["first"] = old
                row["second"] = new
                return row
            }
            try console.print(
                JSONValue.object([
                    "id": .string(first.id.string), "first": json(first), "second": json(second),
                    "changes": .array(changes),
                ]).description)
            return isSame ? .success : .failure
        }
        func title(_ document: Document) -> String {
            (document.revision?.abbreviated ?? "") + (document.isDeleted ? ", deleted" : "")
        }
        var table = RowTable(console, titles: ["MEMBER", title(first), title(second)])
        for (difference, old, new) in rows {
            try table.add([difference.path, old?.description ?? "—", new?.description ?? "—"])
        }
        try table.finish()
        if rows.isEmpty { try console.printNote("\(title(first)) and \(title(second)) have the same members") }
        return isSame ? .success : .failure
    }
}

// MARK: - DatabaseDifferences

/// Compares the leaves of all documents of two databases.
private struct DatabaseDifferences {
    /// The leaves of a document.
    private struct Leaves {
        let winner: RevisionID
        let isDeleted: Bool
        /// The winner first.
        let all: [RevisionID]

        init?(_ line: ChangeLine) {
            guard let first = line.leaves.first else { return nil }
            (winner, isDeleted, all) = (first, line.isDeleted, line.leaves)
        }

        var json: JSONValue {
            var json: JSONValue = [
                "rev": .string(winner.description), "leaves": .array(all.map { .string($0.description) }),
            ]
            if isDeleted { json["deleted"] = true }
            return json
        }
    }

    private struct Difference {
        let id: DocumentID
        let kind: String
        let first: Leaves?
        let second: Leaves?
    }

    private let invocation: Invocation
    private let console: Console
    private let withDeleted: Bool

    init(_ invocation: Invocation) {
        self.invocation = invocation
        console = invocation.console
        withDeleted = invocation.arguments.flag("--deleted")
    }

    func run() throws -> ExitStatus {
        try refuseOptionsOfURLs()
        let first = try withClient("DB", leaves)
        // A document that changes meanwhile is listed again, so its last line counts.
        var (differences, seen) = ([DocumentID: Difference](), Set<DocumentID>())
        try withClient("OTHER") { client in
            try forEach(of: client) { id, second in
                differences[id] = difference(id, first[id], second)
                if first[id] != nil { seen.insert(id) }
            }
        }
        for (id, leaves) in first where !seen.contains(id) { differences[id] = difference(id, leaves, nil) }
        let same = seen.count { differences[$0] == nil && isThere(first[$0]) }
        let found = differences.values.sorted { $0.id < $1.id }
        try report(found, same: same)
        return found.isEmpty ? .success : .failure
    }

    private func isThere(_ leaves: Leaves?) -> Bool { leaves.map { !$0.isDeleted || withDeleted } ?? false }

    private func difference(_ id: DocumentID, _ first: Leaves?, _ second: Leaves?) -> Difference? {
        func found(_ kind: String) -> Difference { Difference(id: id, kind: kind, first: first, second: second) }
        switch (isThere(first), isThere(second)) {
        case (false, false): return nil
        case (true, false): return found("only_first")
        case (false, true): return found("only_second")
        case (true, true):
            if first?.winner != second?.winner { return found("winners") }
            return Set(first?.all ?? []) == Set(second?.all ?? []) ? nil : found("leaves")
        }
    }

    private func report(_ found: [Difference], same: Int) throws {
        if console.isJSON {
            for difference in found {
                let line: JSONValue = [
                    "id": .string(difference.id.string), "difference": .string(difference.kind),
                    "first": difference.first?.json ?? .null, "second": difference.second?.json ?? .null,
                ]
                try console.print(line.description)
            }
            return
        }
        var table = RowTable(console, titles: ["DOCUMENT", "FIRST", "SECOND"])
        for difference in found {
            let showsAll = difference.kind == "leaves"
            func cell(_ leaves: Leaves?) -> String {
                guard let leaves else { return "—" }
                let revisions = showsAll ? leaves.all : [leaves.winner]
                return revisions.map(\.abbreviated).joined(separator: " ") + (leaves.isDeleted ? ", deleted" : "")
            }
            try table.add([difference.id.string, cell(difference.first), cell(difference.second)])
        }
        try table.finish()
        let kinds = [
            ("only_first", "only in the first"), ("only_second", "only in the second"),
            ("winners", "with other winners"), ("leaves", "with other leaves"),
        ].compactMap { kind, words -> String? in
            let count = found.count { $0.kind == kind }
            return count == 0 ? nil : "\(Quantity.grouped(count)) \(words)"
        }
        try console.printNote(
            (kinds.isEmpty ? ["no difference"] : kinds).joined(separator: ", ") + "; \(Quantity.grouped(same)) equal")
    }

    private func leaves(of client: Client) throws -> [DocumentID: Leaves] {
        var all: [DocumentID: Leaves] = [:]
        try forEach(of: client) { all[$0] = $1 }
        return all
    }

    private func forEach(of client: Client, _ body: (DocumentID, Leaves) throws -> Void) throws {
        _ = try client.info()
        let feed = ChangeFeed(client: client, console: console, query: ["style": "all_docs"])
        try feed.forEach(since: nil, limit: .max) { line in
            if let id = line.id, let leaves = Leaves(line) { try body(DocumentID(unchecked: id), leaves) }
            return true
        }
    }

    /// Lends the client of an operand to a closure.
    private func withClient<Result>(_ operand: String, _ body: (Client) throws -> Result) throws -> Result {
        let given = try invocation.arguments.operand(operand)
        if Invocation.isURL(given) {
            return try body(Client(HTTPURL(given), arguments: invocation.arguments, console: console))
        }
        var options = DatabaseOptions()
        options.warn = { _ in }
        do {
            return try invocation.withDatabase(operand, options: options, creates: false) { database in
                let path = try invocation.path(operand)
                let server = try InProcessServer(database, path: path, console: console)
                return try body(Client(server, path: path, place: database.path, console: console))
            }
        } catch let error where operand == "OTHER" && CommandError(error).status == .notFound {
            throw CommandError.notFound(
                "there is no database \(given); if it is the id of a document, give a revision as well")
        }
    }

    private func refuseOptionsOfURLs() throws {
        let operands = try ["DB", "OTHER"].map { try invocation.arguments.operand($0) }
        guard !operands.contains(where: Invocation.isURL),
            let option = RemoteOptions.options.map(\.name).first(where: invocation.arguments.isGiven)
        else { return }
        throw CommandError.usage("\(option) is for URLs, and both databases are folders", verb: "diff")
    }
}
