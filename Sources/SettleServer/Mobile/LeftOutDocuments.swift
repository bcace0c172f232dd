internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform
internal import SettleReplication

/// The documents that are not offered to Couchbase Lite, because it can't store them, by their databases.
///
/// `GET /_scheduler/ledger/{db}%2F_blipsync` lists them. The log has each of them once.
final class LeftOutDocuments: Sendable {
    /// A document that is left out, and why.
    struct Entry {
        let id: DocumentID
        let revision: RevisionID
        let fault: String
    }

    private let ledgers = Guarded<[String: ReplicationLedger]>([:])

    /// Records what a page of changes leaves out.
    ///
    /// - Parameters:
    ///   - entries: The documents that are left out.
    ///   - offered: The documents that are offered; they are not listed any more.
    ///   - database: The name of the database.
    /// - Returns: The entries that are new; an empty list once the ledger is full and drops its oldest entries, so that the log does
    ///   not name a document again and again.
    func note(
        _ entries: [Entry], offering offered: some Sequence<DocumentID>, in database: String
    ) -> [Entry] {
        ledgers.withLock { ledgers in
            guard !entries.isEmpty || ledgers[database] != nil else { return [] }
            var ledger = ledgers.removeValue(forKey: database) ?? ReplicationLedger()
            for id in offered { ledger.clear(id, but: []) }
            var new: [Entry] = []
            for entry in entries {
                let count = ledger.count
                ledger.note(entry.id, entry.revision, .refused, reason: entry.fault, status: nil)
                if ledger.count > count { new.append(entry) }
            }
            if ledger.count > 0 || ledger.forgotten > 0 { ledgers[database] = ledger }
            return new
        }
    }

    /// What is not offered of a database.
    func ledger(of database: String) -> ReplicationLedger {
        ledgers.withLock { $0[database] ?? ReplicationLedger() }
    }
}

// MARK: - Changes

extension LeftOutDocuments {
    /// Leaves out the changes that Couchbase Lite can't take, and lists them in the ledger and in the log.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - most: The bytes of the contents that are kept.
    ///   - context: The request for the connection, of the changes' database.
    /// - Returns: The changes that are offered; the first small ones keep their content.
    /// - Throws: ``DatabaseError``.
    static func offered(
        among changes: [PulledRevision], keeping most: Int, _ context: RequestContext
    ) throws -> [PulledRevision] {
        var (offered, entries, kept) = ([PulledRevision](), [Entry](), 0)
        var rest = changes[...]
        try context.database().forEachRevision(changes.map { ($0.id, $0.revision, []) }) { stored in
            guard var change = rest.popFirst() else { return false }
            // What can't be read is sent as `norev`.
            let found = try? stored.get()?.revision
            let fault = MobileLimits.fault(in: change.id) ?? found.flatMap { MobileLimits.fault(in: $0.body) }
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
        let name = context.parameter("db")
        for entry in context.service(\.mobile).leftOut.note(entries, offering: offered.lazy.map(\.id), in: name) {
            context.options.log?.warning(
                "a document is not offered to Couchbase Lite: \(entry.fault)",
                ["database": name, "id": entry.id.string])
        }
        return offered
    }
}
