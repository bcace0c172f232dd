internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// The index that a request wants to be made.
enum IndexRequest {
    /// Reads a body.
    ///
    /// - Parameters:
    ///   - members: The body.
    ///   - makesTextIndexes: Whether indexes of type `text` are made; a stock CouchDB, which has no service for them, refuses
    ///     them as this server does otherwise.
    /// - Returns: What the index is to be.
    /// - Throws: ``HTTPError``, ``SelectorError`` or ``QueryError``.
    static func definition(_ members: JSONObject, makesTextIndexes: Bool) throws -> IndexDefinition {
        var given = RequestOptions(members)
        let definition = try given.require("index")
        let type = try given.string("type") ?? "json"
        let name = try given.name("name")
        let designDocument = try given.name("ddoc")
        let copies = try given.positive("w", 2)
        let isPartitioned = try given.take("partitioned").map { value in
            guard let flag = value.bool else {
                throw HTTPError(400, "invalid_boolean", "Invalid boolean value: \(ErlangText.text(of: value))")
            }
            return flag
        }
        try given.end()
        switch type {
        case "json": break
        case "text" where makesTextIndexes:
            try checkPartitions(isPartitioned)
            return try IndexDefinition(
                text: definition, name: name, designDocument: designDocument, isPartitioned: isPartitioned,
                copies: copies)
        case "text", "nouveau": throw HTTPError(503, "required index service unavailable", type)
        default: throw HTTPError(400, "invalid_index", "Invalid type for index: \(type)")
        }
        guard let inner = definition.object else {
            throw HTTPError(
                400, "invalid_index", "JSON indexes must be an object, not: \(ErlangText.text(of: definition))")
        }
        var options = RequestOptions(inner)
        let fields = try SortSpecification.fields(options.require("fields"))
        let filter = try options.take("partial_filter_selector").map { try MangoSelector(filter: $0) }
        try options.end()
        try checkPartitions(isPartitioned)
        return try IndexDefinition(
            fields: fields, filter: filter?.json == .object(JSONObject()) ? nil : filter, given: definition, name: name,
            designDocument: designDocument, isPartitioned: isPartitioned, copies: copies)
    }

    private static func checkPartitions(_ isPartitioned: Bool?) throws {
        guard isPartitioned != true else {
            throw HTTPError(
                400, "invalid_design_doc", "partitioned option cannot be true in a non-partitioned database.")
        }
    }
}
