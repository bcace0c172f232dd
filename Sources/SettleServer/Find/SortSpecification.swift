internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// How requests say what to sort by, and which members an index has.
///
///     ["city", {"age": "desc"}]
enum SortSpecification {
    /// Reads a list.
    ///
    /// - Throws: ``HTTPError`` with status 400 in CouchDB's words.
    static func fields(_ value: JSON) throws -> [SortField] {
        guard let list = value.array else {
            throw HTTPError(
                400, "invalid_sort_json",
                "Sort must be an array of sort specs, not: \(ErlangText.text(of: value))")
        }
        let fields = try list.map(field)
        if Set(fields.map(\.isDescending)).count > 1 { throw IndexDefinition.mixed }
        return fields
    }

    private static func field(_ value: JSON) throws -> SortField {
        if let path = value.string, !path.isEmpty { return .ascending(path) }
        if let members = value.object, members.count == 1, let member = members.first {
            if member.value == "asc" { return .ascending(member.name) }
            if member.value == "desc" { return .descending(member.name) }
        }
        throw HTTPError(400, "invalid_sort_field", "Invalid sort field: \(ErlangText.text(of: value))")
    }

    /// A list as `_explain` shows it.
    static func json(_ fields: [SortField]) -> JSON {
        .object(JSONObject(fields.map { ($0.path, $0.isDescending ? "desc" : "asc") }))
    }
}
