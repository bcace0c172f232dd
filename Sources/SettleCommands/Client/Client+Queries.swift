internal import Settle
internal import SettleHTTP
import SettleReplication

/// Queries by selector and their indexes, in the JSON of CouchDB's `_find`, `_explain` and `_index`.
extension Client {
    /// Goes over the documents of a query.
    ///
    /// - Parameters:
    ///   - request: The query.
    ///   - body: Is given each document as JSON text, and says whether to go on.
    /// - Returns: What stands beside the documents, such as `warning` and `bookmark`; nothing when the closure wanted no more.
    /// - Throws: ``CommandError``, and what `body` throws.
    func find(_ request: JSONObject, _ body: ([UInt8]) throws -> Bool) throws -> JSONObject {
        let response = try streamPatiently("_find", body: .object(request))
        return try forEachElement("docs", of: response, body)
    }

    /// How a query would be answered.
    func explain(_ request: JSONObject) throws -> JSONValue {
        try json("POST", "_explain", body: .object(request))
    }

    /// The indexes: `ddoc`, `name`, `type` and `def`, and where that is known `rows`, `size` and `pending`.
    func indexes() throws -> [NamedIndex] { try indexLines().map(NamedIndex.init) }

    private func indexLines() throws -> [JSONValue] {
        let indexes = try json("GET", "_index", query: ["status": "true"])["indexes"]?.array ?? []
        var states: [String: JSONValue] = [:]
        return try indexes.map { line in
            // Settle tells it at once.
            guard let id = line["ddoc"]?.string, line["type"] == "json", line["pending"] == nil else { return line }
            let state = try states[id] ?? state(of: id)
            states[id] = state
            var line = line
            line["size"] = state["sizes"]?["file"]
            line["pending"] = state["updates_pending"]?["total"]
            return line
        }
    }

    /// What the server tells of the indexes of a design document; CouchDB does, others do not.
    private func state(of id: String) throws -> JSONValue {
        do {
            let path = HTTPPath(segments: ["_design", ViewName.designName(id), "_info"])
            return try json("GET", path)["view_index"] ?? .null
        } catch let error as CommandError where [.failure, .notFound, .refused, .damaged].contains(error.status) {
            return .null
        }
    }

    /// Makes an index; tells `result`, `id` and `name`.
    func createIndex(_ request: JSONObject) throws -> JSONValue {
        do { return try json("POST", "_index", body: .object(request)) } catch let error as CommandError
            where error.message.contains("index service")
        {
            throw CommandError(
                "no_text_indexes",
                """
                \(authority) makes no indexes of texts; Settle's server does after `settle serve \
                --text-indexes on`, CouchDB with a search service
                """, status: .refused)
        }
    }

    /// Removes an index.
    func deleteIndex(_ index: NamedIndex) throws {
        try json(
            "DELETE", HTTPPath(segments: ["_index", "_design", index.designName, index.type, index.name]))
    }

    /// Brings an index up to date: a server builds it when it is asked for something that is in it.
    func buildIndex(_ index: NamedIndex) throws {
        let conditions = index.fields.map { field -> JSONValue in
            .object(JSONObject([(field.path, ["$exists": true])]))
        }
        let request: JSONObject = [
            "selector": index.type == "json" ? ["$and": .array(conditions)] : ["$text": "a"], "fields": ["_id"],
            "limit": 1,
            "use_index": [.string(index.designName), .string(index.name)],
        ]
        let rest = try find(request) { _ in true }
        guard let warning = rest["warning"]?.string, warning.contains(index.name) else { return }
        throw CommandError("invalid_index", "the server does not use the index: \(warning)", status: .refused)
    }
}

// MARK: - NamedIndex

/// An index as a list of them has it.
struct NamedIndex {
    /// The id of its design document; `nil` of the list of all documents.
    let designDocument: String?
    let name: String
    /// `json`, `text` or `special`.
    let type: String
    /// What it is ordered by, with the direction where that is not the usual one.
    let fields: [(path: String, isDescending: Bool)]
    /// Which documents are in it; `nil` for all that have the fields.
    let filter: JSONValue?
    let rows: Int?
    let size: Int?
    let pending: Int?
    /// The line of the list.
    let json: JSONValue

    init(_ json: JSONValue) {
        self.json = json
        designDocument = json["ddoc"]?.string
        name = json["name"]?.string ?? ""
        type = json["type"]?.string ?? ""
        let definition = json["def"]
        let list = definition?["fields"]?.array ?? []
        fields = list.flatMap { field -> [(String, Bool)] in
            if let path = field.string { return [(path, false)] }
            return (field.object ?? JSONObject()).map { ($0.name, $0.value == "desc") }
        }
        let filter = definition?["partial_filter_selector"] ?? definition?["selector"]
        self.filter = filter?.object?.isEmpty == true ? nil : filter
        (rows, size, pending) = (json["rows"]?.int, json["size"]?.int, json["pending"]?.int)
    }

    /// The name of its design document without `_design/`.
    var designName: String { designDocument.map(ViewName.designName) ?? "" }

    /// What it is ordered by, for people: `age, -name`.
    var order: String {
        if type == "text", fields.isEmpty { return "all texts" }
        return fields.map { ($0.isDescending ? "-" : "") + $0.path }.joined(separator: ", ")
    }
}
