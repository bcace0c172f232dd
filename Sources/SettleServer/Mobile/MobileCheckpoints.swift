internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// The checkpoints of clients, each in a local document `_local/checkpoint/{client}` as Sync Gateway keeps them.
struct MobileCheckpoints {
    let database: Database

    /// `getCheckpoint`: the body, with its revision as the property `rev`; 404 for a client without one.
    func get(_ message: BLIPMessage) throws -> BLIPMessage {
        guard let found = try database.localDocument(id(message.properties["client"])) else {
            throw BLIPError.http(404, "missing")
        }
        return BLIPMessage(.reply, properties: ["rev": found.revision], body: found.body.json.utf8)
    }

    /// `setCheckpoint`: stores a body; 409 if `rev` is not the stored one.
    func set(_ message: BLIPMessage) throws -> BLIPMessage {
        let given = message.properties["rev"].flatMap { $0.isEmpty ? nil : $0 }
        let saved = try database.saveLocalDocument(
            id(message.properties["client"]), body: DocumentBody(RequestLimits.value(message.body)), expecting: given)
        return BLIPMessage(.reply, properties: ["rev": saved.revision])
    }

    /// The collections of the message `getCollections`, each with the name of its checkpoint.
    ///
    /// - Throws: ``BLIPError`` with status 400 if the numbers of collections and names differ, or exceed 100.
    static func collections(_ message: BLIPMessage) throws -> [(collection: String, client: String)] {
        let body = try RequestLimits.value(message.body)
        let names = body["collections"]?.array?.compactMap(\.string) ?? []
        let clients = body["checkpoint_ids"]?.array?.compactMap(\.string) ?? []
        guard !names.isEmpty, names.count == clients.count, names.count == body["collections"]?.array?.count,
            names.count <= 100
        else { throw BLIPError.http(400, "`collections` and `checkpoint_ids` must be lists of the same length") }
        return Array(zip(names, clients))
    }

    /// A checkpoint with its revision as the member `rev`. A client without a stored checkpoint gets `{}`.
    func whole(_ client: String) throws -> JSONValue {
        guard let found = try database.localDocument(id(client)) else { return [:] }
        var members = found.body.json.object ?? [:]
        members["rev"] = .string(found.revision)
        return .object(members)
    }

    /// The name of a checkpoint.
    ///
    /// - Throws: ``BLIPError`` with status 400 if it is missing, empty or longer than 500 bytes.
    static func checked(_ client: String?) throws -> String {
        guard let client, !client.isEmpty, client.utf8.count <= 500 else {
            throw BLIPError.http(400, "`client` must name the checkpoint")
        }
        return client
    }

    private func id(_ client: String?) throws -> DocumentID {
        try DocumentID(validating: "_local/checkpoint/" + Self.checked(client))
    }
}
