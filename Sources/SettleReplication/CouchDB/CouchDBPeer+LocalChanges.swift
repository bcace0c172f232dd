public import SettleCore
public import SettleDatabase

extension CouchDBPeer {
    /// Sends attribute changes to a Settle server whose database has attribute clocks, for thin clients that keep no
    /// revisions: `POST /{db}/_local_changes`.
    ///
    /// The clocks of a database at the server are off until an administrator sends `PUT /{db}/_attribute_clocks` with the body
    /// `true`.
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
        let types = try changes.sorted { $0.key < $1.key }.compactMap { type, objects -> (String, JSONValue)? in
            let rows = try objects.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                id, attributes -> JSONValue in
                ["id": .string(id.string), "changes": .array(try attributes.map { try JSONValue(encoding: $0) })]
            }
            return rows.isEmpty ? nil : (type, .array(rows))
        }
        guard !types.isEmpty else { return [] }
        let answer = try await calls().json("POST", "_local_changes", json: JSONValue.object(JSONObject(types)).utf8)
        return types.flatMap { type, _ in
            (answer[type]?.array ?? []).compactMap { LocalChangeOutcome($0, type: type) }
        }
    }
}
