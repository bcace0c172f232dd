internal import Settle
internal import SettleHTTP
internal import SettleQuery

/// A query of the command line, in the JSON of CouchDB's `_find`.
struct FindQuery {
    let selector: JSONValue
    /// The fields to show; empty for whole documents.
    let fields: [String]
    /// The fields to sort by.
    let sort: [String]
    /// The maximum number of documents; `nil` for all.
    let limit: Int?
    let json: JSONObject

    /// Effectively all, because CouchDB returns 25 documents by default.
    private static let all = Int(Int32.max)

    init(_ arguments: Arguments, _ console: Console) throws {
        let isCounting = arguments.flag("--count")
        for option in ["--fields", "--sort", "--limit", "--skip", "--bookmark", "--explain"] {
            try arguments.refuse("--count", with: option)
        }
        try arguments.refuse("--explain", with: "--stats")
        selector = try SelectorText.selector(arguments.operand("SELECTOR"), console)
        limit = try arguments.count("--limit")
        var json: JSONObject = ["selector": selector, "limit": .number(JSONNumber(limit ?? Self.all))]
        json["skip"] = try arguments.count("--skip").map { .number(JSONNumber($0)) }
        let shown = isCounting ? ["_id"] : try arguments.paths("--fields") ?? []
        fields = shown.compactMap(\.string)
        if !shown.isEmpty { json["fields"] = .array(shown) }
        let order = try MemberList.sort("--sort", arguments) ?? []
        sort = order.compactMap { $0.string ?? $0.object?.names.first }
        if !order.isEmpty { json["sort"] = .array(order) }
        json["use_index"] = Self.index(arguments)
        json["bookmark"] = arguments.text("--bookmark").map { .string($0) }
        if arguments.flag("--conflicts") { json["conflicts"] = true }
        if arguments.flag("--stats") { json["execution_stats"] = true }
        self.json = json
    }

    /// The index that `--use-index` names: its design document and optionally its own name.
    static func index(_ arguments: Arguments) -> JSONValue? {
        arguments.text("--use-index").map { name in
            let parts = ViewName.designName(name).split(separator: "/", maxSplits: 1).map(String.init)
            return .array(parts.map { .string($0) })
        }
    }

    /// The command that creates a suitable index; `nil` if no index would help.
    func indexCommand(_ invocation: Invocation) throws -> String? {
        let columns = FindConditions(selector).columns(sortedBy: sort)
        guard !columns.isEmpty else { return nil }
        let given = try invocation.arguments.operand("DB")
        let database = Invocation.isURL(given) ? try HTTPURL(given).withoutCredentials.description : given
        return (["settle index create"] + ([database] + columns).map(ShellWords.typed)).joined(separator: " ")
    }

}

extension FindQuery {
    /// Parses a selector of the command line: JSON, or a plain expression.
    enum SelectorText {
        /// Reads a selector from a text, from a file after `@`, or from standard input for `-`.
        ///
        /// - Throws: ``CommandError``. A JSON selector is validated by the server.
        static func selector(_ given: String, _ console: Console) throws -> JSONValue {
            let text = String(decoding: try bytes(given, console), as: UTF8.self)
            guard let first = text.first(where: { !$0.isWhitespace }) else {
                throw CommandError.usage("the selector is empty; '{}' finds all documents", verb: "find")
            }
            guard first == "{" || first == "[" else {
                do { return try MangoSelector.json(ofCondition: text) } catch let error as ConditionError {
                    throw CommandError.usage(error.message, verb: "find")
                }
            }
            do { return try JSONValue(parsing: text) } catch {
                throw CommandError.invalid("the selector is not JSON: \(error.description)")
            }
        }

        private static func bytes(_ given: String, _ console: Console) throws -> [UInt8] {
            if given.hasPrefix("@") { return try ByteInput.open(String(given.dropFirst())).readAll() }
            guard given == "-" else { return Array(given.utf8) }
            let input = ByteInput()
            if input.isTerminal { console.complain("Type the selector, then Ctrl-D.", json: [:]) }
            return try input.readAll()
        }
    }
}

extension FindQuery {
    /// Parses the order of fields of the command line: `age,-name`, or JSON.
    enum MemberList {
        /// The sort order: paths separated by commas, with a minus before descending ones; or CouchDB's JSON.
        ///
        /// - Throws: ``CommandError`` with status `usage` for mixed directions, which no index supports.
        static func sort(_ option: String, _ arguments: Arguments) throws -> [JSONValue]? {
            guard let text = arguments.text(option) else { return nil }
            if let list = try arguments.jsonArray(option, text) { return list }
            let paths = try arguments.parts(option, text)
            let downwards = paths.filter { $0.hasPrefix("-") }
            guard downwards.isEmpty || downwards.count == paths.count else {
                throw CommandError.usage(
                    "\(option) takes one direction: a minus before all of the fields, or none", verb: "find")
            }
            return paths.map {
                $0.hasPrefix("-") ? .object(JSONObject([(String($0.dropFirst()), "desc")])) : .string($0)
            }
        }
    }
}

// MARK: - FindConditions

/// The conditions of a selector that must all be true, and how an index helps with them.
struct FindConditions {
    private let json: JSONValue
    /// `nil` if the JSON is not a selector, or has operators of a server that are unknown here.
    private let selector: MangoSelector?

    /// The conditions of a selector, in normal form or any other.
    init(_ selector: JSONValue) {
        json = selector
        self.selector = try? MangoSelector(selector)
    }

    /// Splits the conditions into those that an index of some members evaluates, and those that remain to be
    /// checked, as text.
    ///
    /// - Parameters:
    ///   - columns: The members of the index.
    ///   - isSearched: Whether it is a text index, which evaluates each `$text`.
    /// - Returns: Both lists, in the order of the selector.
    func split(by columns: [String], isSearched: Bool = false) -> (narrowing: [String], checked: [String]) {
        guard let selector else { return ([], [json.description]) }
        var open: Set<String> = []
        for column in columns {
            open.insert(column)
            guard selector.isConstant(column) else { break }
        }
        func isNarrowing(_ part: SelectorPart) -> Bool {
            guard let condition = part.condition else { return false }
            switch condition.range {
            case .missing: return false
            case .existing: return columns.contains(condition.path)
            default: return open.contains(condition.path)
            }
        }
        let checked = selector.parts.filter { !isNarrowing($0) && !($0.isSearch && isSearched) }
        return (selector.parts.filter(isNarrowing).map(\.description), checked.map(\.description))
    }

    /// The members of an index for these conditions and an order: first those compared for equality, then those
    /// sorted by, or else one with a range; for a search `--text`.
    func columns(sortedBy sort: [String]) -> [String] {
        guard let selector else { return [] }
        guard selector.searches.isEmpty else { return ["--text"] }
        let ranged = selector.conditions.first { condition in
            switch condition.range {
            case .exactly, .existing, .missing: false
            default: condition.path != "_id"
            }
        }
        var columns: [String] = []
        let equal = constants.map(\.path).filter { !sort.contains($0) }
        for path in equal + (sort.isEmpty ? [ranged?.path].compactMap(\.self) : sort)
        where path != "_id" && !columns.contains(path) { columns.append(path) }
        return columns
    }

    /// The members that are compared for equality, and their values.
    var constants: [(path: String, value: JSONValue)] {
        (selector?.conditions ?? []).compactMap { condition in
            guard case .exactly(let value) = condition.range else { return nil }
            return (condition.path, value)
        }
    }
}
