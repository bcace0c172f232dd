package import SettleCore

/// A document of a database in this process.
///
/// The caller may hold a transaction. Then no other writer changes the leaves, and everything is written in that
/// transaction.
package struct LocalSource: SettlementSource, Sendable {
    private let id: DocumentID
    private let database: Database
    /// Whether it is an error if the document does not exist; otherwise such a document is not in conflict.
    private let mustExist: Bool
    /// The states of the peer that the conflict came from, if that peer sends only its current state.
    private let peer: FormerState?

    /// Makes a source.
    package init(_ id: DocumentID, in database: Database, mustExist: Bool = false, beside peer: FormerState? = nil) {
        (self.id, self.database, self.mustExist, self.peer) = (id, database, mustExist, peer)
    }

    package var origin: UInt64 { database.identity }

    package func conflict(_ kinds: Set<ConflictKind>) throws -> Conflict? {
        try database.engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else {
                guard mustExist else { return nil }
                throw DatabaseError(.notFound, "there is no document \"\(id)\" to settle")
            }
            return try database.conflict(in: record, kinds, beside: peer, reader)
        }
    }

    package func attributesKeptOnDelete() throws -> Set<String> { try database.attributesKeptOnDelete() }

    package func write(_ preview: SettlementPreview, by policy: ConflictPolicy) throws -> Bool {
        try write(preview, by: policy, asking: nil)
    }

    /// Writes a plan in one transaction (SEMANTICS 72), unless the leaves of the document have changed.
    ///
    /// - Parameters:
    ///   - preview: The plan. It is a pure function of the leaves, so the revisions are those that it shows.
    ///   - policy: The policy that decided it.
    ///   - check: The age of the design documents at which the caller has asked validation functions about the
    ///     writes.
    /// - Returns: Whether it was written.
    /// - Throws: ``WriteCheck/IsOld`` if a design document was written since; ``DatabaseError`` with code
    ///   `notFound` for a document that was purged, `refused` by a validation of the database, and errors of
    ///   ``Database/transaction(_:)``.
    package func write(
        _ preview: SettlementPreview, by policy: ConflictPolicy, asking check: WriteCheck?
    ) throws -> Bool {
        let (conflict, plan, kinds) = (preview.conflict, preview.plan, policy.kinds)
        return try database.transaction {
            try database.edit { editor in
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

    package func warn(_ warning: String) { database.warn(warning, in: .conflicts) }
}
