public import RevisionTree
public import SettleDatabase
internal import SettlePlatform

/// Decides whether a document takes part in a replication; parameters are those of the replication, of any JSON type
/// (SEMANTICS 129).
///
/// It sees the winner, tombstones too (``SettleDatabase/Document/isDeleted``): one that was made by a plain deletion has no
/// members left, so a filter that looks at members does not pass it, and the deletion does not replicate (SEMANTICS 131).
/// Delete with `keeping:` the members the filter asks for, or pass all tombstones.
public typealias ReplicationFilterFunction = @Sendable (Document, [String: JSON]) throws -> Bool

extension Database {
    /// Registers a filter function under a name, in place of the one that had it, for replications whose source this
    /// database is (SEMANTICS 128).
    ///
    ///     database.addReplicationFilter("mine") { document, parameters in
    ///         document["owner"] == parameters["owner"]
    ///     }
    ///
    /// It is not kept in the file: register it each time the database is opened, before replications start. It runs while
    /// changes are read, so it should be quick. When it throws, the replication fails.
    ///
    /// - Parameters:
    ///   - name: The name that replications give.
    ///   - version: Which version of the function this is; raise it when the function passes other documents than before. The next
    ///     replication asks it about all documents then, and not only about new changes.
    ///   - filter: The function.
    public func addReplicationFilter(_ name: String, version: Int = 1, _ filter: @escaping ReplicationFilterFunction) {
        filters.functions.withLock { $0[name] = (filter, version) }
    }

    /// Takes a filter function away; nothing happens when there is none of that name.
    public func removeReplicationFilter(_ name: String) { filters.functions.withLock { $0[name] = nil } }

    /// The filter function of a name.
    func replicationFilter(_ name: String) -> (function: ReplicationFilterFunction, version: Int)? {
        filters.functions.withLock { $0[name] }
    }

    private var filters: ReplicationFilterList {
        companion(ReplicationFilterList.self) { ReplicationFilterList() }
    }
}
