internal import SettleCore
internal import SettleHTTP

/// The parameters of a list of documents.
struct ListingQuery: Sendable {
    var start: JSONValue?
    var end: JSONValue?
    var keys: [JSONValue]?
    var limit = largestLimit
    var skip = 0
    var isDescending = false
    var isEndInclusive = true
    var hasDocuments = false
    /// The representation of included documents.
    var documents = DocumentOptions()
    var hasUpdateSequence = false

    static let largestLimit = 576_460_752_303_423_487

    init() {}

    /// A query of a request, without its parameters.
    init(_ request: ServerRequest) { documents.keepsNumbers = request.keepsNumbers }

    /// Reads the query's parameters.
    mutating func parse(_ query: HTTPQuery) throws {
        for (name, text) in query.items {
            switch name {
            case "key", "keys", "startkey", "start_key", "endkey", "end_key":
                try parse(name, JSONValue(parsing: text))
            default: try parse(name, .string(text))
            }
        }
    }

    /// Reads a body's members.
    mutating func parse(_ members: JSONObject) throws {
        for member in members { try parse(member.name, member.value) }
    }

    /// Reads one of several queries of a request, after their shared parameters. It has its own keys; a list of one key is
    /// a range, which has no row for a missing key.
    mutating func parse(query members: JSONObject) throws {
        keys = nil
        try parse(members)
        if keys?.count == 1 { keys = nil }
    }

    /// Checks that the parameters are compatible.
    func check() throws {
        guard let keys, let key = keys.first, start != nil || end != nil else { return }
        // A list of one key is also a range.
        if keys.count > 1 || start != key || end != key {
            throw HTTPError.queryParse("`keys` is incompatible with `key`, `start_key` and `end_key`")
        }
    }

    private mutating func parse(_ name: String, _ value: JSONValue) throws {
        switch name {
        case "key": (start, end) = (value, value)
        case "keys":
            guard let list = value.array else { throw HTTPError.badRequest("`keys` parameter must be an array.") }
            keys = list
            if list.count == 1 { (start, end) = (list[0], list[0]) }
        case "startkey", "start_key": start = value
        case "endkey", "end_key": end = value
        case "limit":
            limit = try Self.positive(value)
            if limit > Self.largestLimit {
                throw HTTPError.queryParse("Limit is too large, must not exceed \(Self.largestLimit)")
            }
        case "skip": skip = min(try Self.positive(value), Self.largestLimit)
        case "descending": isDescending = try Self.boolean(value)
        case "inclusive_end": isEndInclusive = try Self.boolean(value)
        case "include_docs": hasDocuments = try Self.boolean(value)
        case "conflicts": documents.hasConflicts = try Self.boolean(value)
        case "attachments": documents.hasAttachments = try Self.boolean(value)
        case "att_encoding_info": documents.hasEncodingInfo = try Self.boolean(value)
        case "update_seq": hasUpdateSequence = try Self.boolean(value)
        default: try parseViewOnly(name, value)
        }
    }

    /// Reads parameters of views, which are validated, and partly refused.
    private func parseViewOnly(_ name: String, _ value: JSONValue) throws {
        switch name {
        case "reduce":
            if try Self.boolean(value) { throw HTTPError.queryParse("Reduce is invalid for map-only views.") }
        case "group":
            if try Self.boolean(value) { throw HTTPError.queryParse("Invalid use of grouping on a map view.") }
        case "group_level":
            if try Self.positive(value) > 0 {
                throw HTTPError.queryParse("Invalid use of grouping on a map view.")
            }
        case "stale" where value != "ok" && value != "update_after":
            throw HTTPError.queryParse("Invalid value for `stale`.")
        case "stable" where !["true", "false", true, false].contains(value):
            throw HTTPError.queryParse("Invalid value for `stable`.")
        case "update" where !["true", "false", "lazy", true, false].contains(value):
            throw HTTPError.queryParse("Invalid value for `update`.")
        case "sorted": _ = try Self.boolean(value)
        case "partition": throw HTTPError.queryParse("`partition` parameter is not supported on this db")
        default: break
        }
    }

    static func boolean(_ value: JSONValue) throws -> Bool {
        if let flag = value.bool { return flag }
        switch value.string?.lowercased() {
        case "true": return true
        case "false": return false
        default: throw HTTPError.queryParse("Invalid boolean parameter: \(spelled(value))")
        }
    }

    static func positive(_ value: JSONValue) throws -> Int {
        let digits = value.string ?? value.description
        let isNumber =
            digits.utf8.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
            ? digits.dropFirst().utf8.allSatisfy(isDigit) && digits.utf8.count > 1
            : !digits.isEmpty && digits.utf8.allSatisfy(isDigit)
        guard isNumber else { throw HTTPError.queryParse("Invalid value for integer: \(spelled(value))") }
        guard let number = Int(digits) else {
            if digits.hasPrefix("-") {
                throw HTTPError.queryParse("Invalid value for positive integer: \(spelled(value))")
            }
            return .max
        }
        guard number >= 0 else {
            throw HTTPError.queryParse("Invalid value for positive integer: \(spelled(value))")
        }
        return number
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// A value as Erlang prints it: text in quotes, and empty text as an empty list.
    private static func spelled(_ value: JSONValue) -> String {
        value.string.map { $0.isEmpty ? "[]" : "\"\($0)\"" } ?? value.description
    }
}
