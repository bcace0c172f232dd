public import SettleCore
internal import SettleDatabase

/// A replication stored in a database; ``Replications/all`` has those that run now.
public struct PersistentReplication: Sendable, Hashable {
    /// The name under which it is stored.
    public let name: String
    /// The direction.
    public let direction: ReplicationDirection
    /// The peer's address, with the user's name and without the password.
    public let url: HTTPURL
    /// Whether it is continuous.
    public let isContinuous: Bool
    /// What it does: pending until ``Replications/resume(credentials:client:configure:)`` starts it, or it is started
    /// otherwise; running or crashing in this process; paused or completed.
    public let state: ReplicationState
    /// Whether the password is stored with it.
    public let hasPassword: Bool
    /// Its filter, as the members `doc_ids`, `selector`, or `filter` and `query_params`; none for all documents.
    public let filter: JSONObject
}

extension Database {
    /// The replications that the database stores.
    func storedReplications() throws -> StoredReplications {
        StoredReplications(try localDocument(StoredReplications.id)?.body.json)
    }

    /// Changes them in one transaction.
    func changeStoredReplications<Value: Sendable>(_ body: (inout StoredReplications) throws -> Value) throws -> Value {
        try transaction {
            var stored = try storedReplications()
            let before = stored
            let value = try body(&stored)
            guard stored != before else { return value }
            if let body = stored.body {
                try saveLocalDocument(StoredReplications.id, body: try DocumentBody(body))
            } else {
                try deleteLocalDocument(StoredReplications.id)
            }
            return value
        }
    }
}
