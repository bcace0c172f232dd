internal import Settle

/// Queries of a database at a server, which answers them and keeps their indexes.
struct ServerQueries: QueryKeeper {
    let remote: RemoteDatabase

    func find(_ request: JSONObject, _ body: ([UInt8]) throws -> Bool) throws -> JSONObject {
        let response = try remote.streamPatiently("_find", body: .object(request))
        return try remote.forEachElement("docs", of: response, body)
    }

    func explain(_ request: JSONObject) throws -> JSON {
        try remote.json("POST", "_explain", body: .object(request))
    }

    func indexes() throws -> [JSON] {
        let indexes = try remote.json("GET", "_index")["indexes"]?.array ?? []
        var states: [String: JSON] = [:]
        return try indexes.map { line in
            guard let id = line["ddoc"]?.string, line["type"] == "json" else { return line }
            let state = try states[id] ?? state(of: id)
            states[id] = state
            var line = line
            line["size"] = state["sizes"]?["file"]
            line["pending"] = state["updates_pending"]?["total"]
            return line
        }
    }

    /// What the server tells of the indexes of a design document; CouchDB does, others do not.
    private func state(of id: String) throws -> JSON {
        do {
            let path = HTTPPath(segments: ["_design", ViewName.designName(id), "_info"])
            return try remote.json("GET", path)["view_index"] ?? .null
        } catch let error as CommandError where [.failure, .notFound, .refused, .damaged].contains(error.status) {
            return .null
        }
    }

    func create(_ request: JSONObject) throws -> JSON {
        do { return try remote.json("POST", "_index", body: .object(request)) } catch let error as CommandError
            where error.message.contains("index service")
        {
            throw CommandError(
                "no_text_indexes",
                """
                \(remote.url.authority) makes no indexes of texts; Settle's server does after `settle serve \
                --text-indexes on`, CouchDB with a search service
                """, status: .refused)
        }
    }

    func delete(_ index: NamedIndex) throws {
        try remote.json(
            "DELETE", HTTPPath(segments: ["_index", "_design", index.designName, index.type, index.name]))
    }

    /// A server builds an index when it is asked for something that is in it.
    func build(_ index: NamedIndex) throws {
        let conditions = index.fields.map { field -> JSON in
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
