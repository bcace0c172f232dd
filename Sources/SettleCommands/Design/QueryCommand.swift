internal import Settle
internal import SettleHTTP
import SettleReplication

/// `settle query`: queries a view of a design document.
enum QueryCommand: Command {
    /// Whether and when the index is updated.
    enum Update: String, CaseIterable {
        case `true`, `false`, lazy
    }

    /// The same values in CouchDB 1's spelling.
    enum Stale: String, CaseIterable {
        case ok
        case updateAfter = "update_after"
    }

    static let spec = CommandSpec(
        "query", "query a view of a design document",
        discussion: """
            VIEW is DESIGN/VIEW. The index is updated first, unless --update says otherwise: for a folder here, in the \
            files that a server of the folder uses, for a URL by the server. Keys are JSON, so a text is quoted: --key \
            '"milk"'. They are in CouchDB's order: null, false, true, numbers, texts, arrays, objects. A view with a \
            reduce function is reduced to one row, or to one for each group.
            """,
        operands: [.database, Operand("VIEW", "the view: the name of its design document, a slash, and its own name")],
        options: [
            Option("--key", value: "JSON", "only rows with this key"),
            Option("--keys", value: "JSON", "only rows with these keys, an array; in its order"),
            Option("--startkey", value: "JSON", aliases: ["--start-key"], "start at this key"),
            Option("--endkey", value: "JSON", aliases: ["--end-key"], "end after this key"),
            Option("--startkey-docid", value: "ID", "in the rows of --startkey, start at this document's"),
            Option("--endkey-docid", value: "ID", "in the rows of --endkey, end after this document's"),
            Option("--exclude-end", "exclude the rows of --endkey"),
            Option("--descending", "descending order of keys; --startkey is then the greatest"),
            Option("--limit", value: "N", "print at most N rows"),
            Option("--skip", value: "N", "skip N rows"),
            Option("--reduce", "reduce the rows; the default of a view that has a reduce function"),
            Option("--no-reduce", "list the rows without reducing them"),
            Option("--group", "reduce the rows of each key"),
            Option("--group-level", value: "N", "reduce the rows whose keys begin with the same N elements"),
            Option("--include-docs", "include the documents"),
            Option("--conflicts", "include their conflicts, as _conflicts"),
            Option("--attachments", "include the contents of their attachments, as base64"),
            Option("--update", value: "WHEN", "update the index: true (before), false, or lazy (afterwards)"),
            Option("--stale", value: "HOW", "the same as in CouchDB 1: ok or update_after"),
        ],
        examples: [
            CommandSpec.Example("settle query groceries shop/by-name", "all rows, in the order of their keys"),
            CommandSpec.Example(
                #"settle query groceries shop/by-name --key '"milk"' --include-docs"#, "one, with its document"),
            CommandSpec.Example(
                #"settle query groceries shop/by-day --startkey '[2026]' --endkey '[2026,{}]'"#, "all keys of a year"),
            CommandSpec.Example(
                "settle query https://anna@couch.example/groceries shop/by-day --group-level 1 --json",
                "a row for each year, from a server"),
        ],
        json: """
            the rows, one a line: {"id":…,"key":…,"value":…}, with "doc" under --include-docs; reduced ones \
            {"key":…,"value":…}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let name = try ViewName(arguments.operand("VIEW"))
        let (query, keys) = try query(arguments)
        let console = invocation.console
        let hasDocuments = arguments.flag("--include-docs")
        var table: RowTable?
        try invocation.withClient { client in
            try client.forEachRow(of: name, query, keys: keys) { text in
                if console.isJSON {
                    // The server's answer, unchanged.
                    try console.output.write(text + [UInt8(ascii: "\n")])
                    return true
                }
                let row = try JSONValue(utf8: text)
                let id = row["id"]?.string
                let titles = ["KEY", "VALUE"] + (id == nil ? [] : ["ID"]) + (hasDocuments ? ["DOCUMENT"] : [])
                var current = table ?? RowTable(console, titles: titles)
                var cells = [row["key"] ?? .null, row["value"] ?? row["error"] ?? .null].map(\.description)
                if titles.contains("ID") { cells.append(id ?? "") }
                if hasDocuments { cells.append((row["doc"] ?? .null).description) }
                try current.add(cells)
                table = current
                return true
            }
        }
        try table?.finish()
        if table == nil { try console.printNote("No rows") }
        return .success
    }

    /// The options as query parameters, and a list of keys.
    private static func query(_ arguments: Arguments) throws -> (HTTPQuery, keys: [JSONValue]?) {
        for (first, second) in [
            ("--key", "--keys"), ("--key", "--startkey"), ("--key", "--endkey"), ("--keys", "--startkey"),
            ("--keys", "--endkey"), ("--reduce", "--no-reduce"), ("--group", "--group-level"),
            ("--no-reduce", "--group"), ("--no-reduce", "--group-level"), ("--update", "--stale"),
        ] { try arguments.refuse(first, with: second) }
        var query = HTTPQuery()
        for name in ["key", "startkey", "endkey"] { query[name] = try json("--" + name, arguments)?.description }
        query["startkey_docid"] = arguments.text("--startkey-docid")
        query["endkey_docid"] = arguments.text("--endkey-docid")
        for name in ["limit", "skip"] { query[name] = try arguments.count("--" + name).map { String($0) } }
        query["group_level"] = try arguments.count("--group-level").map { String($0) }
        for name in ["descending", "group", "include_docs", "conflicts", "attachments"]
        where arguments.flag("--" + name.replacing("_", with: "-")) { query[name] = "true" }
        if arguments.flag("--exclude-end") { query["inclusive_end"] = "false" }
        if arguments.flag("--reduce") { query["reduce"] = "true" }
        if arguments.flag("--no-reduce") { query["reduce"] = "false" }
        if arguments.text("--update") != nil {
            query["update"] = try arguments.choice("--update", Update.true).rawValue
        }
        if arguments.text("--stale") != nil { query["stale"] = try arguments.choice("--stale", Stale.ok).rawValue }
        guard let list = try json("--keys", arguments) else { return (query, nil) }
        guard let keys = list.array else {
            throw CommandError.usage("--keys takes a JSON array, such as '[\"milk\",\"tea\"]'", verb: spec.name)
        }
        return (query, keys)
    }

    private static func json(_ option: String, _ arguments: Arguments) throws -> JSONValue? {
        guard let text = arguments.text(option) else { return nil }
        if let value = try? JSONValue(parsing: text) { return value }
        let quoted = JSONValue.string(text).description
        throw CommandError.usage("\(option) takes JSON; a text is quoted, '\(quoted)'", verb: spec.name)
    }
}
