internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleQuery
internal import SettleViews

/// The parameters of a request to a view.
struct ViewQuery: Sendable {
    /// When the index is updated: before the query, never, or after it.
    enum Update: Sendable {
        case before
        case never
        case after
    }

    private var start: JSONValue?
    private var end: JSONValue?
    private var startID: String?
    private var endID: String?
    private(set) var keys: [JSONValue]?
    private(set) var limit = ListingQuery.largestLimit
    private(set) var skip = 0
    private(set) var isDescending = false
    private var isEndInclusive = true
    private(set) var hasDocuments = false
    /// The options of the included documents.
    private(set) var documents = DocumentOptions()
    private var hasConflicts = false
    private(set) var hasUpdateSequence = false
    private(set) var update = Update.before
    private var reduce: Bool?
    private var group: Bool?
    private var groupLevel: Int?

    init() {}

    /// Creates the query of a request, without reading its parameters.
    init(_ request: ServerRequest) { documents.keepsNumbers = request.keepsNumbers }

    /// Whether the result is probably small: `few` rows, or a range between two keys.
    func isNarrow(_ few: Int) -> Bool {
        skip <= few && (limit <= few || keys.map { $0.count <= few } ?? (start != nil && end != nil))
    }

    /// Reads the parameters of the URL's query.
    mutating func parse(_ query: HTTPQuery) throws {
        for (name, text) in query.items {
            switch name {
            case "key", "keys", "startkey", "start_key", "endkey", "end_key": try parse(name, JSONValue(parsing: text))
            default: try parse(name, .string(text))
            }
        }
    }

    /// Reads the members of a body.
    mutating func parse(_ members: JSONObject) throws {
        for member in members { try parse(member.name, member.value) }
    }

    /// Reads one of several queries in a request, after their shared parameters. It has its own keys and groups.
    mutating func parse(query members: JSONObject) throws {
        (keys, group, groupLevel) = (nil, nil, nil)
        try parse(members)
    }

    private mutating func parse(_ name: String, _ value: JSONValue) throws {
        switch name {
        case "key": (start, end) = (value, value)
        case "keys":
            guard let list = value.array else { throw HTTPError.queryParse("`keys` must be an array of strings.") }
            // A list of one key is a range.
            if list.count == 1 { (start, end) = (list[0], list[0]) } else { keys = list }
        case "startkey", "start_key": start = value
        case "endkey", "end_key": end = value
        case "startkey_docid", "start_key_doc_id": startID = try Self.id(value, "start_key_docid")
        case "endkey_docid", "end_key_doc_id": endID = try Self.id(value, "end_key_docid")
        case "limit": limit = min(try ListingQuery.positive(value), ListingQuery.largestLimit)
        case "skip": skip = min(try ListingQuery.positive(value), ListingQuery.largestLimit)
        case "descending": isDescending = try ListingQuery.boolean(value)
        case "inclusive_end": isEndInclusive = try ListingQuery.boolean(value)
        case "include_docs": hasDocuments = try ListingQuery.boolean(value)
        case "conflicts":
            hasConflicts = true
            documents.hasConflicts = try ListingQuery.boolean(value)
        case "attachments": documents.hasAttachments = try ListingQuery.boolean(value)
        case "att_encoding_info": documents.hasEncodingInfo = try ListingQuery.boolean(value)
        case "update_seq": hasUpdateSequence = try ListingQuery.boolean(value)
        case "reduce": reduce = try ListingQuery.boolean(value)
        case "group": group = try ListingQuery.boolean(value)
        case "group_level": groupLevel = try ListingQuery.positive(value)
        case "sorted": _ = try ListingQuery.boolean(value)
        default: try parseFreshness(name, value)
        }
    }

    private mutating func parseFreshness(_ name: String, _ value: JSONValue) throws {
        switch (name, value) {
        case ("stale", "ok"): update = .never
        case ("stale", "update_after"): update = .after
        case ("stale", _): throw HTTPError.queryParse("Invalid value for `stale`.")
        case ("stable", "true"), ("stable", "false"), ("stable", true), ("stable", false): break
        case ("stable", _): throw HTTPError.queryParse("Invalid value for `stable`.")
        case ("update", "true"), ("update", true): update = .before
        case ("update", "false"), ("update", false): update = .never
        case ("update", "lazy"): update = .after
        case ("update", _): throw HTTPError.queryParse("Invalid value for `update`.")
        case ("partition", _):
            throw HTTPError.queryParse("`partition` parameter is not supported in this design doc")
        default: break
        }
    }

    private static func id(_ value: JSONValue, _ name: String) throws -> String {
        guard let text = value.string else { throw HTTPError.queryParse("`\(name)` must be a string.") }
        return text
    }

    /// Whether to reduce the rows of a view.
    func isReduced(_ view: ViewGroup.View) -> Bool { view.reducer != nil && reduce != false }

    /// The level of grouping.
    var level: GroupLevel {
        if let groupLevel { return groupLevel == 0 ? .none : .elements(groupLevel) }
        return group == true ? .exact : .none
    }

    /// Checks that the parameters are consistent, and possible for a view.
    func check(_ view: ViewGroup.View) throws {
        if group == false, let groupLevel, groupLevel > 0 {
            throw HTTPError.queryParse("Can't specify group=false and group_level>0 at the same time")
        }
        if view.reducer == nil, reduce == true {
            throw HTTPError.queryParse("Reduce is invalid for map-only views.")
        }
        let isReduced = isReduced(view)
        if isReduced, keys != nil, level != .exact {
            throw HTTPError.queryParse("Multi-key fetches for reduce views must use `group=true`")
        }
        if keys?.isEmpty == false, start != nil || end != nil {
            throw HTTPError.queryParse("`keys` is incompatible with `key`, `start_key` and `end_key`")
        }
        if !isReduced, level != .none { throw HTTPError.queryParse("Invalid use of grouping on a map view.") }
        if isReduced, hasDocuments { throw HTTPError.queryParse("`include_docs` is invalid for reduce") }
        if isReduced, hasConflicts { throw HTTPError.queryParse("`conflicts` is invalid for reduce views.") }
        if let start, let end, start != end,
            view.order.compare(start, end) == (isDescending ? .before : .after)
        {
            throw HTTPError.queryParse(
                "No rows can match your key range, reverse your start_key and end_key or set descending=\(!isDescending)"
            )
        }
    }

    /// The requested ranges of rows, in order. Several reduced keys stay in the given order.
    func ranges(_ view: ViewGroup.View) -> [RowRange] {
        guard let keys else { return [range(start, end, view)] }
        return (isDescending && !isReduced(view) ? keys.reversed() : keys).map { range($0, $0, view) }
    }

    /// The rows between two keys. The document ids of the query select among the rows of a given key.
    private func range(_ start: JSONValue?, _ end: JSONValue?, _ view: ViewGroup.View) -> RowRange {
        RowRange(
            start: start, startID: start == nil ? nil : startID.map { DocumentID(unchecked: $0) }, end: end,
            endID: end == nil ? nil : endID.map { DocumentID(unchecked: $0) }, includesEnd: isEndInclusive,
            descending: isDescending, order: view.order)
    }
}
