internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

extension LeftOutDocuments {
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
}
