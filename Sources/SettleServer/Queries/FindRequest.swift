internal import SettleCore
internal import SettleQuery
internal import SettleViews

/// A request to `_find` or `_explain`.
struct FindRequest {
    /// The query.
    private(set) var options: FindOptions
    /// The given bookmark, which only `_find` parses.
    private let bookmark: String?
    /// Whether to include `execution_stats`.
    let hasStatistics: Bool
    /// The number of copies to read each document from; there is one.
    let copies: Int
    /// Whether the index may be out of date, in the two ways that a request can say so.
    let isStale: Bool
    let isStable: Bool
    private let isUpdated: Bool

    /// Parses a body.
    ///
    /// - Throws: ``HTTPError``, ``SelectorError`` or ``QueryError``.
    init(_ members: JSONObject) throws {
        var given = RequestOptions(members)
        var options = FindOptions(try MangoSelector(given.require("selector")))
        options.useIndex = try given.remove("use_index").map(RequestOptions.indexNames) ?? []
        bookmark = try Self.bookmark(given.remove("bookmark"))
        options.limit = try given.count("limit", 25)
        options.skip = try given.count("skip", 0)
        options.sort = try given.remove("sort").map(SortSpecification.fields) ?? []
        options.fields = try given.remove("fields").map(Self.fields) ?? []
        if let partition = given.remove("partition"), partition != "" {
            throw HTTPError.queryParse("`partition` parameter is not supported on this db")
        }
        copies = try given.positive("r", 1)
        options.isQuorum = copies > 1
        options.hasConflicts = try given.boolean("conflicts", false)
        isStale = try Self.isStale(given.remove("stale"))
        isUpdated = try given.boolean("update", true)
        options.isUpdated = isUpdated && !isStale
        isStable = try given.boolean("stable", false)
        hasStatistics = try given.boolean("execution_stats", false)
        options.allowsFallback = try given.boolean("allow_fallback", true)
        try given.end()
        self.options = options
    }

    /// The query, with the position from which it continues.
    ///
    /// - Throws: ``QueryError`` with code `invalidBookmark`.
    func resumed() throws -> FindOptions {
        var options = options
        options.bookmark = try bookmark.map { try FindBookmark($0) }
        return options
    }

    private static func bookmark(_ value: JSONValue?) throws -> String? {
        guard let value, !value.isNull, value != "" else { return nil }
        guard let text = value.string else {
            throw HTTPError(400, "invalid_bookmark", "Invalid bookmark value: \(value)")
        }
        return text
    }

    private static func fields(_ value: JSONValue) throws -> [String] {
        guard let list = value.array else {
            throw HTTPError(
                400, "invalid_fields", "Fields must be an array of strings, not: \(ErlangText.text(of: value))")
        }
        guard list.count <= RequestLimits.fields else {
            throw HTTPError.tooMany("`fields` may have \(RequestLimits.fields) names")
        }
        _ = try Projection(list)
        return list.compactMap(\.string)
    }

    private static func isStale(_ value: JSONValue?) throws -> Bool {
        switch value {
        case nil, .some(false), .some("false"): return false
        case .some("ok"): return true
        case .some(let other):
            throw HTTPError(
                400, "invalid_ok_or_false_value", "Invalid value: \(ErlangText.text(of: other)): ok or false is one")
        }
    }

    /// The request as `_explain` shows it.
    var json: JSONValue {
        [
            "use_index": .array(options.useIndex.map { .string($0) }),
            "bookmark": .string(bookmark ?? FindBookmark.none), "limit": .number(JSONNumber(options.limit)),
            "skip": .number(JSONNumber(options.skip)), "sort": SortSpecification.json(options.sort),
            "fields": .array(options.fields.map { .string($0) }), "partition": "", "r": .number(JSONNumber(copies)),
            "conflicts": .bool(options.hasConflicts), "stale": isStale ? "ok" : false, "update": .bool(isUpdated),
            "stable": .bool(isStable), "execution_stats": .bool(hasStatistics),
            "allow_fallback": .bool(options.allowsFallback),
        ]
    }
}

/// Parses and prints lists of fields: what a query sorts by, and the members of an index.
///
///     ["city", {"age": "desc"}]
enum SortSpecification {
    /// Parses a list.
    ///
    /// - Throws: ``HTTPError`` with status 400 and CouchDB's reason.
    static func fields(_ value: JSONValue) throws -> [SortField] {
        guard let list = value.array else {
            throw HTTPError(
                400, "invalid_sort_json",
                "Sort must be an array of sort specs, not: \(ErlangText.text(of: value))")
        }
        let fields = try list.map(field)
        if Set(fields.map(\.isDescending)).count > 1 { throw IndexDefinition.mixed }
        return fields
    }

    private static func field(_ value: JSONValue) throws -> SortField {
        if let path = value.string, !path.isEmpty { return .ascending(path) }
        if let members = value.object, members.count == 1, let member = members.first {
            if member.value == "asc" { return .ascending(member.name) }
            if member.value == "desc" { return .descending(member.name) }
        }
        throw HTTPError(400, "invalid_sort_field", "Invalid sort field: \(ErlangText.text(of: value))")
    }

    /// The form of a list in `_explain`.
    static func json(_ fields: [SortField]) -> JSONValue {
        .object(JSONObject(fields.map { ($0.path, $0.isDescending ? "desc" : "asc") }))
    }
}
