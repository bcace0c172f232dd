internal import Settle
import SettleCore
internal import SettleImport

/// `settle find`: finds documents by conditions on their fields.
enum FindCommand: Command {
    static let spec = CommandSpec(
        "find", "find documents by conditions on their fields",
        discussion: """
            SELECTOR is CouchDB's (Mango), or a plain expression: age > 30 && city = "Prague". Fields are named by \
            paths, address.city, and a name with blanks in quotes, "Unit Price"; texts are quoted. The operators are = (or ==) != < <= > >=, in [1, 2], contains "x" \
            (an element of a list, or a part of a text), begins "text", matches "regex", exists and missing; conditions \
            are joined by && (and), || (or), ! (not) and parentheses. Keywords may be written in any case. A missing \
            field matches only `missing`.
            Where nothing is found because a list was compared with a single value, standard error says so.
            Without an index all documents are read, and standard error says so with the command that creates one. \
            Only --sort requires an index. --explain shows which index is used and which conditions are checked on \
            each document.
            Documents are printed in columns; --fields selects them, --csv prints them for other programs, --json prints \
            whole documents.
            """,
        operands: [
            .database, Operand("SELECTOR", "the conditions; @FILE reads a file, - standard input; '{}' finds all"),
        ],
        options: [
            Option("--fields", value: "PATHS", "show only these fields, separated by commas: name,address.city"),
            .csv,
            Option("--sort", value: "PATHS", "sort by these fields of an index: age,name; -age for descending order"),
            Option("--limit", value: "N", "print at most N documents (default all)"),
            Option("--skip", value: "N", "skip N documents"),
            Option("--bookmark", value: "TEXT", "continue after an earlier answer, which printed it"),
            Option("--use-index", value: "DESIGN[/NAME]", "use this index; partial ones are used only this way"),
            Option("--conflicts", "include the conflicting revisions, as _conflicts"),
            Option("--count", "only the number of documents"),
            Option("--explain", "show the query plan without running the query"),
            Option("--stats", "print execution statistics and the bookmark to standard error"),
        ],
        examples: [
            CommandSpec.Example("settle find people 'age > 30 && city = \"Prague\"'", "a condition"),
            CommandSpec.Example(
                #"settle find people '{"age": {"$gt": 30}, "city": "Prague"}'"#, "the same as a CouchDB selector"),
            CommandSpec.Example(
                "settle find people 'city in [\"Prague\", \"Brno\"] || vip exists' --fields name,city", "two columns"),
            CommandSpec.Example(
                "settle find people 'tags contains \"vip\" AND NOT city = \"Prague\"'", "an element of a list"),
            CommandSpec.Example("settle index create people city age", "creates an index for these"),
            CommandSpec.Example(
                "settle find people 'city = \"Prague\"' --sort -age --limit 10", "the ten oldest, from the index"),
            CommandSpec.Example(
                "settle find people 'age > 30' --csv --fields name,address.city > grown.csv",
                "a table for a spreadsheet"),
            CommandSpec.Example(
                "settle find people 'age > 30' --explain", "the index, its range, and the remaining conditions"),
            CommandSpec.Example(
                "settle find https://anna@couch.example/people @grown.json --json", "a selector in a file, at a server"),
        ],
        json: """
            the documents, one a line, or their --fields; under --count {"count":N}; under --explain CouchDB's answer to \
            _explain. On standard error {"warning":…}, and under --stats {"execution_stats":{…},"bookmark":…}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let request = try FindQuery(invocation.arguments, invocation.console)
        do {
            try invocation.withClient { client in
                if invocation.arguments.flag("--explain") { return try explain(request, client, invocation) }
                try find(request, client, invocation)
            }
        } catch {
            let failure = CommandError(error)
            guard failure.code == "no_usable_index", let command = try request.indexCommand(invocation) else {
                throw failure
            }
            throw CommandError(failure.code, "\(failure.message) `\(command)` creates one", status: failure.status)
        }
        return .success
    }

    private static func find(
        _ request: FindQuery, _ client: Client, _ invocation: Invocation
    ) throws {
        let console = invocation.console
        let isCounting = invocation.arguments.flag("--count")
        for option in ["--json", "--count", "--explain"] { try invocation.arguments.refuse("--csv", with: option) }
        let csv =
            try invocation.arguments.flag("--csv")
            ? CSVTable(to: console.output, fields: request.fields.isEmpty ? nil : request.fields) : nil
        var table = FindTable(console, fields: request.fields)
        var count = 0
        let rest = try client.find(request.json) { text in
            count += 1
            if isCounting { return true }
            if let csv {
                try csv.add(JSONValue(utf8: text))
            } else if console.isJSON {
                try console.output.write(text + [UInt8(ascii: "\n")])
            } else {
                try table.add(JSONValue(utf8: text))
            }
            return true
        }
        if let csv {
            console.warn(ofMissing: try csv.finish())
        } else if isCounting {
            try console.print(String(count), json: ["count": .number(JSONNumber(count))])
        } else {
            try table.finish()
            if count == 0 { try console.printNote("Nothing found") }
        }
        let bookmark = rest["bookmark"]?.string.flatMap { $0 == "nil" ? nil : $0 }
        if console.terminal.isTerminal, !isCounting {
            if !table.hidden.isEmpty {
                try console.printNote("Not shown: \(table.hidden.joined(separator: ", ")); --fields selects them")
            }
            if count > 0, count == request.limit, let bookmark {
                try console.printNote("There may be more after these: --bookmark \(bookmark)")
            }
        }
        try warn(rest["warning"]?.string, request, invocation)
        if count == 0, !console.isQuiet { try ListHint(request.selector).give(client, console) }
        if invocation.arguments.flag("--stats") { report(rest["execution_stats"] ?? .null, bookmark, console) }
    }

    /// Writes a query's warning, with a suggested index.
    private static func warn(_ warning: String?, _ request: FindQuery, _ invocation: Invocation) throws {
        guard let warning, !invocation.console.isQuiet else { return }
        for line in warning.split(separator: "\n").map(String.init) {
            var text = line
            if line.lowercased().hasPrefix("no matching index") {
                // A query for all documents needs no index.
                if request.selector.object?.isEmpty == true { continue }
                text = "no index serves these conditions, so all documents were looked at"
                if let command = try request.indexCommand(invocation) { text += "; `\(command)` creates one" }
            }
            if line.contains("was not used because") { text += " `settle index list` has the indexes" }
            invocation.console.complain("settle: \(text)", json: ["warning": .string(text)])
        }
    }

    private static func report(_ statistics: JSONValue, _ bookmark: String?, _ console: Console) {
        func count(_ name: String) -> Int { statistics[name]?.int ?? 0 }
        let documents = count("total_docs_examined") + count("total_quorum_docs_examined")
        let time = statistics["execution_time_ms"]?.double.map { ", in \(Quantity.decimal($0)) ms" } ?? ""
        let text = """
            \(Quantity.of(count("results_returned"), "document")) found; \
            \(Quantity.of(count("total_keys_examined"), "row")) and \
            \(Quantity.of(documents, "document")) looked at\(time)
            """
        var json: JSONValue = ["execution_stats": statistics]
        json["bookmark"] = bookmark.map { .string($0) }
        console.complain(text + (bookmark.map { "\nbookmark \($0)" } ?? ""), json: json)
    }

    private static func explain(
        _ request: FindQuery, _ client: Client, _ invocation: Invocation
    ) throws {
        let plan = try client.explain(request.json)
        let text = FindPlanText(plan)
        let console = invocation.console
        try console.print(Columns.aligned(text.rows).joined(separator: "\n"), json: plan)
        guard !text.hasIndex, let command = try request.indexCommand(invocation) else { return }
        try console.printNote("\nNo index fits; `\(command)` creates one")
    }
}

// MARK: - FindTable

/// Prints found documents in columns: the requested members, or those that most of the first documents have.
struct FindTable {
    private let console: Console
    private var paths: [String]
    private var waiting: [JSONValue] = []
    private var table: RowTable?
    /// The members of the first documents that are not shown.
    private(set) var hidden: [String] = []

    /// The number of documents that determine the columns.
    private static let sample = 100

    /// - Parameters:
    ///   - console: The console to print to.
    ///   - fields: The members to show; empty to choose them.
    init(_ console: Console, fields: [String]) {
        self.console = console
        paths = fields
        if !fields.isEmpty { table = RowTable(console, titles: fields.map(Self.title)) }
    }

    /// Adds a document.
    mutating func add(_ document: JSONValue) throws {
        guard table == nil else { return try write(document) }
        waiting.append(document)
        if waiting.count == Self.sample { try begin() }
    }

    /// Prints the remaining documents.
    mutating func finish() throws {
        if table == nil, !waiting.isEmpty { try begin() }
        try table?.finish()
    }

    private mutating func begin() throws {
        (paths, hidden) = Self.columns(of: waiting, atMost: min(max(console.width / 16, 2), 6))
        table = RowTable(console, titles: paths.map(Self.title))
        for document in waiting { try write(document) }
        waiting = []
    }

    private mutating func write(_ document: JSONValue) throws {
        try table?.add(paths.map { Self.cell(FieldPath.value($0, of: document)) })
    }

    private static func title(_ path: String) -> String { path == "_id" ? "ID" : path }

    private static func cell(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        return value.string?.replacing("\n", with: " ") ?? value.description
    }

    /// The id, then members in their order; those that most documents have are preferred.
    static func columns(of documents: [JSONValue], atMost limit: Int) -> (shown: [String], hidden: [String]) {
        var names: [ExactText] = []
        var counts: [ExactText: Int] = [:]
        for document in documents {
            for text in document.object?.names ?? [] where !["_id", "_rev", "_attachments"].contains(text) {
                let name = ExactText(text)
                if counts[name] == nil { names.append(name) }
                counts[name, default: 0] += 1
            }
        }
        let preferred = names.enumerated().sorted {
            let (left, right) = (counts[$0.element] ?? 0, counts[$1.element] ?? 0)
            return left == right ? $0.offset < $1.offset : left > right
        }
        let chosen = Set(preferred.prefix(limit).map(\.element))
        let shown = names.filter(chosen.contains).map { FieldPath.escaped($0.string) }
        return (["_id"] + shown, names.filter { !chosen.contains($0) }.map(\.string))
    }
}

// MARK: - ListHint

/// A hint for a query that found nothing: a member that it compares with a single value is a list.
struct ListHint {
    /// The number of documents that are read.
    private static let sample = 1000

    private let conditions: [(path: String, value: JSONValue)]

    init(_ selector: JSONValue) {
        conditions = FindConditions(selector).constants.filter {
            $0.path != "_id" && $0.value.array == nil && $0.value.object == nil
        }
    }

    /// Writes the hint to standard error, if the member is a list in one of the first documents.
    func give(_ client: Client, _ console: Console) throws {
        if conditions.isEmpty { return }
        var found: (path: String, value: JSONValue)?
        let request: JSONObject = [
            "selector": [:], "limit": .number(JSONNumber(Self.sample)),
            "fields": .array(conditions.map { .string($0.path) }),
        ]
        _ = try client.find(request) { text in
            let document = try JSONValue(utf8: text)
            found = conditions.first { FieldPath.value($0.path, of: document)?.array != nil }
            return found == nil
        }
        guard let found else { return }
        let text = "\(found.path) is a list: say \(found.path) contains \(found.value)"
        console.complain("settle: \(text)", json: ["warning": .string(text)])
    }
}
