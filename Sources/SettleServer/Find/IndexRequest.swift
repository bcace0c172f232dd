internal import RevisionTree
internal import SettleDatabase
internal import SettleViews

/// The index that a request wants to be made.
enum IndexRequest {
    /// Reads a body.
    ///
    /// - Throws: ``HTTPError``, ``SelectorError`` or ``QueryError``; in stock CouchDB, too, an index of type `text` is refused,
    ///   where there is no service for it.
    static func definition(_ members: JSONObject) throws -> IndexDefinition {
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
        case "text", "nouveau": throw HTTPError(503, "required index service unavailable", type)
        default: throw HTTPError(400, "invalid_index", "Invalid type for index: \(type)")
        }
        guard let inner = definition.object else {
            throw HTTPError(
                400, "invalid_index", "JSON indexes must be an object, not: \(ErlangText.text(of: definition))")
        }
        var options = RequestOptions(inner)
        let fields = try SortSpecification.fields(options.require("fields"))
        let filter = try options.take("partial_filter_selector").map { try Selector($0) }
        try options.end()
        if isPartitioned == true {
            throw HTTPError(
                400, "invalid_design_doc", "partitioned option cannot be true in a non-partitioned database.")
        }
        return try IndexDefinition(
            fields: fields, filter: filter?.json == .object(JSONObject()) ? nil : filter, given: definition, name: name,
            designDocument: designDocument, isPartitioned: isPartitioned, copies: copies)
    }
}
