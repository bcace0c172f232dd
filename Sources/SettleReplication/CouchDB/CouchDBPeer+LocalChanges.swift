public import SettleCore
public import SettleDatabase

extension CouchDBPeer {
    /// Sends attribute changes to a Settle server whose database has attribute clocks, for thin clients that keep no
    /// revisions: `POST /{db}/_local_changes`.
    ///
    ///     let outcomes = try await peer.sendLocalChanges(journal.pendingByType())
    ///
    /// The later change of each attribute wins, whichever client sends first, so sending changes twice is harmless.
    /// Objects without changes, deletions among them, are not sent.
    ///
    /// - Parameter changes: Type → id → changes (SEMANTICS 149), whose times the server compares.
    /// - Returns: What became of each object, types and ids in order.
    /// - Throws: ``PeerError``: `notFound` if the server is not a Settle server, `badRequest` if the database has no
    ///   attribute clocks, `badAnswer`.
    public func sendLocalChanges(
        _ changes: [String: [DocumentID: [PendingChange.Field]]]
    ) async throws -> [LocalChangeOutcome] {
        let types = changes.sorted { $0.key < $1.key }.compactMap { type, objects -> (String, JSONValue)? in
            let rows = objects.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                id, attributes -> JSONValue in
                ["id": .string(id.string), "changes": .array(attributes.map(Self.json))]
            }
            return rows.isEmpty ? nil : (type, .array(rows))
        }
        guard !types.isEmpty else { return [] }
        let answer = try await calls().json("POST", "_local_changes", json: JSONValue.object(JSONObject(types)).utf8)
        return types.flatMap { type, _ in
            (answer[type]?.array ?? []).compactMap { LocalChangeOutcome($0, type: type) }
        }
    }

    private static func json(_ attribute: PendingChange.Field) -> JSONValue {
        let time = attribute.time.milliseconds
        let fraction = time % 1000 == 0 ? nil : JSONNumber(Double(time) / 1000).map(JSONValue.number)
        var json: JSONValue = [
            "attribute": .string(attribute.name), "timestamp": fraction ?? .number(JSONNumber(time / 1000)),
        ]
        json["value"] = attribute.value
        return json
    }
}
