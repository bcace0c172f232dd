internal import Settle

/// A query as the command line says it, in the JSON of CouchDB's `_find`.
struct FindRequest {
    let selector: JSON
    /// The members that are shown; none for whole documents.
    let fields: [String]
    /// The members that are sorted by.
    let sort: [String]
    /// How many documents are wanted at the most; `nil` for all.
    let limit: Int?
    let json: JSONObject

    /// As good as all: CouchDB gives 25 documents unless it is told how many.
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
        let shown = isCounting ? ["_id"] : try MemberList.paths("--fields", arguments) ?? []
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

    /// The index that `--use-index` names: its design document, and perhaps its own name.
    static func index(_ arguments: Arguments) -> JSON? {
        arguments.text("--use-index").map { name in
            let parts = ViewName.designName(name).split(separator: "/", maxSplits: 1).map(String.init)
            return .array(parts.map { .string($0) })
        }
    }

    /// The command that makes an index for it; `nil` when none would help.
    func indexCommand(_ invocation: Invocation) throws -> String? {
        let isSearch = (try? Selector(selector))?.searches.isEmpty == false
        let columns = isSearch ? ["--text"] : FindConditions(selector).columns(sortedBy: sort)
        guard !columns.isEmpty else { return nil }
        let given = try invocation.arguments.operand("DB")
        let database = Invocation.isURL(given) ? try HTTPURL(given).withoutCredentials.description : given
        return (["settle index create", database] + columns.map(Self.quoted)).joined(separator: " ")
    }

    /// A word as a shell takes it.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || [UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-")].contains($0)
        }
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
