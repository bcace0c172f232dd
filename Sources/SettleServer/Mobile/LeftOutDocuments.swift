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

    private static let suffix = "/_blipsync"

    private let ledgers = Guarded<[String: ReplicationLedger]>([:])

    /// Records what a page of changes leaves out.
    ///
    /// - Parameters:
    ///   - entries: The documents that are left out.
    ///   - offered: The documents that are offered; they are not listed any more.
    ///   - database: The name of the database.
    /// - Returns: The entries that are new. None is once the ledger has dropped some, so that the log does not fill with what was
    ///   in it before.
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

    /// Finds out which changes Couchbase Lite can't take, and lists them in the ledger and in the log.
    ///
    /// - Parameters:
    ///   - changes: The changes; the first small ones keep their content.
    ///   - most: The bytes of the contents that are kept.
    ///   - context: The request for the connection, of the changes' database.
    /// - Returns: Why each is left out; `nil` for one that is offered.
    /// - Throws: ``DatabaseError``.
    static func check(
        _ changes: inout [PulledRevision], keeping most: Int, _ context: RequestContext
    ) throws -> [String?] {
        var faults = changes.map { MobileLimits.fault(in: $0.id) }
        var (place, kept) = (0, 0)
        try context.database().forEachRevision(changes.map { ($0.id, $0.revision, []) }) { stored in
            defer { place += 1 }
            // What can't be read is sent as `norev`.
            guard faults[place] == nil, let found = try? stored.get() else { return true }
            faults[place] = MobileLimits.fault(in: found.content.body)
            kept += found.content.body.utf8.count + 32 * found.history.revisions.count
            if kept <= most { changes[place].stored = found }
            return true
        }
        let entries = zip(changes, faults).compactMap { change, fault in
            fault.map { Entry(id: change.id, revision: change.revision, fault: $0) }
        }
        let offered = zip(changes, faults).lazy.filter { $1 == nil }.map(\.0.id)
        let name = context.parameter("db")
        for entry in context.service(\.mobile).leftOut.note(entries, offering: offered, in: name) {
            context.options.log?.warning(
                "a document is not offered to Couchbase Lite: \(entry.fault)",
                ["database": name, "id": entry.id.string])
        }
        return faults
    }

    /// The ledger with an id, which is the address of a database's connections; `nil` for another id.
    func ledger(of id: String) -> ReplicationLedger? {
        guard id.hasSuffix(Self.suffix) else { return nil }
        return ledgers.withLock { $0[String(id.dropLast(Self.suffix.count))] ?? ReplicationLedger() }
    }
}
