package import SettleCore

/// A document that was changed at a peer.
package struct ChangedDocument: Sendable, Hashable {
    /// The position of its last change.
    package var sequence: PeerSequence
    /// The document's id.
    package var id: DocumentID
    /// Its leaves, the peer's own winner first.
    package var leaves: [RevisionID]
    /// Whether the peer's own winner is a tombstone (SEMANTICS K2).
    package var isDeleted: Bool
    /// Whether it does not pass the filter though an earlier revision may have: it is not replicated, only reported if
    /// the target has it (SEMANTICS 132).
    package var mayHaveLeft = false

    /// Creates a change.
    package init(sequence: PeerSequence, id: DocumentID, leaves: [RevisionID], isDeleted: Bool = false) {
        self.sequence = sequence
        self.id = id
        self.leaves = leaves
        self.isDeleted = isDeleted
    }
}
