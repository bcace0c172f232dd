internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform
internal import SettleReplication

/// The documents of each database that are not offered: to Couchbase Lite, because it can't store them, or to any
/// client, because no message can name them.
///
/// `GET /_scheduler/ledger/{db}%2F_blipsync` lists them. The log mentions each of them once.
final class LeftOutDocuments: Sendable {
    /// A document that is left out, and why.
    struct Entry {
        let id: DocumentID
        let revision: RevisionID
        let fault: String
    }

    /// The ledger of a database. A database that was deleted and created again has another instance name, and
    /// another ledger.
    private struct Listed {
        let instance: String
        var ledger: ReplicationLedger
    }

    /// The ledgers by the names of databases.
    private let listed = Guarded<[String: Listed]>([:])

    /// Records which documents of a page of changes are left out.
    ///
    /// - Parameters:
    ///   - entries: The documents that are left out.
    ///   - offered: The documents that are offered; they are no longer listed.
    ///   - context: The request for the connection, of the documents' database.
    /// - Returns: The new entries. The list is empty once the ledger is full and drops its oldest entries, so that
    ///   the log does not mention a document repeatedly.
    /// - Throws: ``DatabaseError``.
    func record(
        _ entries: [Entry], offering offered: some Sequence<DocumentID>, _ context: RequestContext
    ) throws -> [Entry] {
        let name = context.parameter("db")
        guard !entries.isEmpty || listed.withLock({ $0[name] != nil }) else { return [] }
        let instance = try context.database().instanceName()
        return listed.withLock { listed in
            var ledger = Self.ledger(in: listed.removeValue(forKey: name), of: instance)
            for id in offered { ledger.clear(id, but: []) }
            var new: [Entry] = []
            for entry in entries {
                let count = ledger.count
                ledger.record(entry.id, entry.revision, .refused, reason: entry.fault, status: nil)
                if ledger.count > count { new.append(entry) }
            }
            if ledger.count > 0 || ledger.forgotten > 0 { listed[name] = Listed(instance: instance, ledger: ledger) }
            return new
        }
    }

    /// The documents of a database that are not offered.
    ///
    /// - Throws: ``DatabaseError``.
    func ledger(of name: String, in database: Database) throws -> ReplicationLedger {
        let instance = try database.instanceName()
        return listed.withLock { Self.ledger(in: $0[name], of: instance) }
    }

    private static func ledger(in listed: Listed?, of instance: String) -> ReplicationLedger {
        listed.flatMap { $0.instance == instance ? $0.ledger : nil } ?? ReplicationLedger()
    }
}

// MARK: - Changes

extension LeftOutDocuments {
    /// Leaves out the changes that no message can name, and records them in the ledger and the log.
    ///
    /// - Parameters:
    ///   - changes: The changes for a client without the limits of Couchbase Lite.
    ///   - context: The request for the connection, of the changes' database.
    /// - Returns: The changes to offer.
    /// - Throws: ``DatabaseError``.
    static func sendable(among changes: [PulledRevision], _ context: RequestContext) throws -> [PulledRevision] {
        let entries = changes.compactMap { change in
            change.fault.map { Entry(id: change.id, revision: change.revision, fault: $0) }
        }
        guard !entries.isEmpty else { return changes }
        for entry in try context.service(\.mobile).leftOut.record(entries, offering: [], context) {
            context.options.log?.warning(
                "a document is not offered: \(entry.fault)",
                ["database": context.parameter("db"), "id": entry.id.string])
        }
        return changes.filter { $0.fault == nil }
    }

    /// Leaves out the changes that Couchbase Lite can't store, and records them in the ledger and the log.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - most: The maximum total size of the contents that are kept, in bytes.
    ///   - context: The request for the connection, of the changes' database.
    /// - Returns: The changes to offer; the first small ones keep their content.
    /// - Throws: ``DatabaseError``.
    static func offered(
        among changes: [PulledRevision], keeping most: Int, _ context: RequestContext
    ) throws -> [PulledRevision] {
        var (offered, entries, kept) = ([PulledRevision](), [Entry](), 0)
        var rest = changes[...]
        try context.database().forEachRevision(changes.map { ($0.id, $0.revision, []) }) { stored in
            guard var change = rest.popFirst() else { return false }
            // An unreadable revision is sent as `norev`.
            let found = try? stored.get()?.revision
            let fault =
                MobileLimits.fault(in: change.id) ?? change.fault ?? found.flatMap { MobileLimits.fault(in: $0.body) }
            if let fault {
                entries.append(Entry(id: change.id, revision: change.revision, fault: fault))
                return true
            }
            if let found {
                kept += found.body.utf8.count + 32 * found.history.revisions.count
                if kept <= most { change.stored = found }
            }
            offered.append(change)
            return true
        }
        for entry in try context.service(\.mobile).leftOut.record(entries, offering: offered.lazy.map(\.id), context) {
            context.options.log?.warning(
                "a document is not offered to Couchbase Lite: \(entry.fault)",
                ["database": context.parameter("db"), "id": entry.id.string])
        }
        return offered
    }
}
