package import SettleCore

/// The location of a conflict: a ``SettlementRun`` reads the conflict from it and writes the decision to it.
///
///     LocalSource     a database of this process, also within a transaction of the caller's
///     RemoteSource    a database with CouchDB's HTTP API, which writes whatever it is sent
///     UserSource      a database of the server, for a user: asks the validation functions before it writes
package protocol SettlementSource {
    /// The identity of the database, so that a resolver's document from another database is refused; 0 for a remote
    /// database.
    var origin: UInt64 { get }
    /// The number of writes that a run tries before it gives up.
    var maximumAttempts: Int { get }

    /// Reads the current conflict; `nil` if there is nothing to settle.
    ///
    /// - Throws: An error that ends the run.
    func conflict(_ kinds: Set<ConflictKind>) throws -> Conflict?

    /// The top-level members that every tombstone of the database keeps.
    func attributesKeptOnDelete() throws -> Set<String>

    /// Writes a plan, unless the leaves have changed since the conflict was read.
    ///
    /// - Returns: Whether it was written.
    /// - Throws: An error that ends the run.
    mutating func write(_ preview: SettlementPreview, by policy: ConflictPolicy) throws -> Bool

    /// The error of a run that gives up because other clients keep writing the document.
    func gaveUp(_ id: DocumentID, attempts: Int) -> DatabaseError

    /// Logs a warning about a decision.
    func warn(_ warning: String)
}

extension SettlementSource {
    package var maximumAttempts: Int { 1000 }

    package func gaveUp(_ id: DocumentID, attempts: Int) -> DatabaseError {
        DatabaseError(
            .conflict,
            """
            \"\(id)\" was changed each time it was to be settled, \(attempts) times; settle outside of a snapshot, and later
            """)
    }

    package func warn(_ warning: String) {}
}
