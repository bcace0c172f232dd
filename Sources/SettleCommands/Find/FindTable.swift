internal import Settle

/// Prints found documents in columns: the requested members, or those that most of the first documents have.
struct FindTable {
    private let console: Console
    private var paths: [String]
    private var waiting: [JSONValue] = []
    private var table: RowTable?
    /// The members of the first documents that are not shown.
    private(set) var hidden: [String] = []

    /// How many documents determine the columns.
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
        var names: [String] = []
        var counts: [String: Int] = [:]
        for document in documents {
            for name in document.object?.names ?? [] where !["_id", "_rev", "_attachments"].contains(name) {
                if counts[name] == nil { names.append(name) }
                counts[name, default: 0] += 1
            }
        }
        let preferred = names.enumerated().sorted {
            let (left, right) = (counts[$0.element] ?? 0, counts[$1.element] ?? 0)
            return left == right ? $0.offset < $1.offset : left > right
        }
        let chosen = Set(preferred.prefix(limit).map(\.element))
        let shown = names.filter(chosen.contains).map(FieldPath.escaped)
        return (["_id"] + shown, names.filter { !chosen.contains($0) })
    }
}
