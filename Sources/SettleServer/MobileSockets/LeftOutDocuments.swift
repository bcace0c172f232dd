internal import SettleCore
internal import SettleDatabase
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
