internal import SettleCore

extension Database {
    /// Writes what a preview plans in one transaction, unless the leaves of the document have changed.
    ///
    /// - Parameters:
    ///   - preview: What is to be written; a pure function of the leaves, so the revisions are those it shows.
    ///   - policy: The policy that decided it.
    ///   - check: Says at which age of the design documents the caller has asked validation functions about the writes.
    /// - Returns: Whether it was written; false if the leaves are others now.
    /// - Throws: ``WriteCheck/IsOld`` when a design document was written since; ``DatabaseError`` with code `notFound` for a
    ///   document that was purged, `refused` by a validation of the database, and as ``transaction(_:)`` does.
    package func carryOut(
        _ preview: SettlementPreview, by policy: ConflictPolicy, asking check: WriteCheck? = nil
    ) throws -> Bool {
        let (conflict, plan, kinds) = (preview.conflict, preview.plan, policy.kinds)
        let id = conflict.documentID
        return try transaction {
            try edit { editor in
                try editor.begin(check)
                guard let record = try editor.writer.record(of: id, withContent: true) else {
                    throw DatabaseError(.notFound, "\"\(id)\" was purged while its conflict was being settled")
                }
                guard Conflict.revisions(in: record.tree, kinds) == conflict.revisions else { return false }
                try editor.write(plan, of: id)
                return true
            }
        }
    }
}
