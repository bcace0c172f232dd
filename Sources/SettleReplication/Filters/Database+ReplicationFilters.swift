public import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// Decides whether a document takes part in a replication; the parameters are the replication's, of any JSON type
/// (SEMANTICS 129).
///
/// It gets the winner, also if that is a tombstone (`Document.isDeleted`). A plain deletion leaves a
/// tombstone without members, so a filter that tests members rejects it, and the deletion does not replicate
/// (SEMANTICS 131). Delete with `keeping:` the members that the filter tests, or pass all tombstones.
public typealias ReplicationFilterFunction = @Sendable (Document, [String: JSONValue]) throws -> Bool

extension Database {
    /// Registers a filter function under a name, replacing a previous one, for replications from this database
    /// (SEMANTICS 128).
    ///
    ///     database.addReplicationFilter("mine") { document, parameters in
    ///         document["owner"] == parameters["owner"]
    ///     }
    ///
    /// The function is not stored in the file: register it each time the database is opened, before replications start.
    /// It runs while changes are read, so it should be fast. If it throws, the replication fails.
    ///
    /// - Parameters:
    ///   - name: The name that replications use.
    ///   - version: The version of the function. Raise it when the function passes other documents than before: the
    ///     next replication then compares all documents, and not only new changes.
    ///   - filter: The function.
    public func addReplicationFilter(_ name: String, version: Int = 1, _ filter: @escaping ReplicationFilterFunction) {
        filters.functions.withLock { $0[name] = (filter, version) }
    }

    /// Removes a filter function; does nothing if there is none with that name.
    public func removeReplicationFilter(_ name: String) { filters.functions.withLock { $0[name] = nil } }

    /// The filter function of a name.
    func replicationFilter(_ name: String) -> (function: ReplicationFilterFunction, version: Int)? {
        filters.functions.withLock { $0[name] }
    }

    private var filters: ReplicationFilterList {
        companion(ReplicationFilterList.self) { ReplicationFilterList() }
    }
}
