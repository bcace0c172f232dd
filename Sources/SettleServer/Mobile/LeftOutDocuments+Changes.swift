internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

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
            let found = try? stored.get()
            let fault = MobileLimits.fault(in: change.id) ?? found.flatMap { MobileLimits.fault(in: $0.content.body) }
            if let fault {
                entries.append(Entry(id: change.id, revision: change.revision, fault: fault))
                return true
            }
            if let found {
                kept += found.content.body.utf8.count + 32 * found.history.revisions.count
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
