internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleQuery
internal import SettleViews

/// The indexes of queries by selector. They are stored in design documents.
enum IndexEndpoints {
    /// `GET /{db}/_index`. With `status=true`, an extension of CouchDB's API, it also reports the size of each
    /// index, and how many changes it lacks.
    static let list: Endpoint = .work { context in
        let database = try context.database()
        let all = try QueryIndexes.all(in: database)
        let hasStatus = context.query["status"] == "true"
        let limit = try number(context.query["limit"]) ?? all.count
        let skip = try number(context.query["skip"]) ?? 0
        guard limit > 0, skip >= 0 else { throw invalidList }
        let shown = all.dropFirst(skip).prefix(limit)
        return .json([
            "total_rows": .number(JSONNumber(all.count)),
            "indexes": .array(
                try shown.map { index in
                    let json = FindExplanation.json(index)
                    return hasStatus ? try described(json, by: index.status(in: database)) : json
                }),
        ])
    }

    private static func described(_ index: JSONValue, by status: QueryIndex.Status?) -> JSONValue {
        guard let status else { return index }
        var index = index
        for (name, count) in [("rows", status.rows), ("size", status.size), ("pending", status.pending)] {
            index[name] = .number(JSONNumber(count))
        }
        return index
    }

    private static func number(_ text: String?) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text) else { throw invalidList }
        return number
    }

    private static let invalidList = HTTPError(
        400, "invalid_list_index_params", "Index parameter ranges: limit > 1, skip > 0")

    /// `POST /{db}/_index`. For an index that exists already, any member may send this.
    static let create: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        let definition = try IndexRequest.definition(
            context.jsonObject(), makesTextIndexes: context.live.makesTextIndexes)
        let id = try WireDocument.checked(definition.designDocument.string)
        let old = try document(id, in: database)
        let known = old.map(body)
        let new = try definition.added(to: known)
        if new != known { try write(new, over: old, id, context) }
        return .json([
            "result": new == known ? "exists" : "created", "id": .string(id.string), "name": .string(definition.name),
        ])
    }

    /// `DELETE /{db}/_index/{ddoc}/{type}/{name}`
    static let delete: Endpoint = .work { context in
        let id = id(context.parameter("ddoc"))
        let name = context.parameter("name")
        let type = context.parameter("type")
        let found = try QueryIndexes.all(in: context.database()).first {
            $0.designDocument == id && $0.name.hasSameBytes(as: name) && FindExplanation.type(of: $0) == type
        }
        guard let found else { throw HTTPError.missing }
        try remove([found], of: id, context)
        return .ok()
    }

    /// `POST /{db}/_index/_bulk_delete`
    static let deleteMany: Endpoint = .work { context in
        try context.requireContentType()
        var given = RequestOptions(try context.jsonObject())
        let value = try given.require("docids")
        guard let list = value.array else {
            throw HTTPError(
                400, "invalid_bulk_docs",
                "Bulk Delete requires an array of non-null docids. Docids: \(ErlangText.text(of: value))")
        }
        let names = try list.map { item in
            guard let name = item.string else {
                throw HTTPError(400, "invalid_index_name", "Invalid index name: \(ErlangText.text(of: item))")
            }
            _ = try RequestOptions.indexNames(item)
            return name
        }
        _ = try given.positive("w", 2)
        try given.end()
        let all = try QueryIndexes.all(in: context.database())
        var (removed, failed): ([JSONValue], [JSONValue]) = ([], [])
        for name in names {
            let id = id(name)
            let indexes = all.filter { $0.designDocument == id }
            guard !indexes.isEmpty else {
                failed.insert(["id": .string(id.string), "error": "not_found"], at: 0)
                continue
            }
            try remove(indexes, of: id, context)
            removed.insert(["id": .string(id.string), "ok": true], at: 0)
        }
        return .json(["success": .array(removed), "fail": .array(failed)])
    }

    /// An unknown path under `_index`.
    static let missing: Endpoint = .work { context in
        _ = try context.database()
        throw HTTPError.missing
    }

    // MARK: - Design documents

    private static func id(_ name: String) -> DocumentID {
        DocumentID(unchecked: name.hasPrefix("_design/") ? name : "_design/" + name)
    }

    private static func document(_ id: DocumentID, in database: Database) throws -> DocumentLookup.Found? {
        guard let record = try database.record(of: id), let winner = record.tree.winner, !winner.isDeleted,
            let content = record.content
        else { return nil }
        return DocumentLookup.Found(record: record, revision: winner.revision, content: content)
    }

    private static func body(_ found: DocumentLookup.Found) -> JSONObject {
        found.content.body.json.object ?? JSONObject()
    }

    private static func remove(_ indexes: [QueryIndex], of id: DocumentID, _ context: RequestContext) throws {
        let database = try context.database()
        guard let old = try document(id, in: database) else { throw HTTPError.missing }
        try write(try IndexDefinition.removed(indexes, from: body(old)), over: old, id, context)
        try QueryIndexes.removeOthers(of: database)
    }

    /// Writes a design document with changed members, or deletes it. Its attachments stay.
    private static func write(
        _ members: JSONObject?, over old: DocumentLookup.Found?, _ id: DocumentID, _ context: RequestContext
    ) throws {
        let database = try context.database()
        let document = WireDocument(
            id: id.string, revision: old.map { .revision($0.revision) }, isDeleted: members == nil,
            body: try DocumentBody(.object(members ?? JSONObject())),
            attachments: members == nil ? [] : old?.content.attachments.map { $0.wire() } ?? [])
        if document.body.utf8.count > context.largestDocument { throw HTTPError.documentTooLarge(id.string) }
        _ = try DocumentWriter(database, context).edit(document, id: id)
    }
}

// MARK: - IndexRequest

/// Parses the index that a request defines.
enum IndexRequest {
    /// Parses a body.
    ///
    /// - Parameters:
    ///   - members: The body.
    ///   - makesTextIndexes: Whether indexes of type `text` are allowed. Otherwise they are refused as by a stock
    ///     CouchDB, which has no service for them.
    /// - Returns: The definition of the index.
    /// - Throws: ``HTTPError``, ``SelectorError`` or ``QueryError``.
    static func definition(_ members: JSONObject, makesTextIndexes: Bool) throws -> IndexDefinition {
        var given = RequestOptions(members)
        let definition = try given.require("index")
        let type = try given.string("type") ?? "json"
        let name = try given.name("name")
        let designDocument = try given.name("ddoc")
        let copies = try given.positive("w", 2)
        let isPartitioned = try given.remove("partitioned").map { value in
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
        let filter = try options.remove("partial_filter_selector").map { try MangoSelector(filter: $0) }
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
