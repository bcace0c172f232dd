public import SettleCore

/// A document that was changed at a peer.
public struct ChangedDocument: Sendable, Hashable {
    /// The position of its last change.
    public var sequence: PeerSequence
    /// The document's id.
    public var id: DocumentID
    /// Its leaves, the peer's own winner first.
    public var leaves: [RevisionID]
    /// Whether the peer's own winner is a tombstone (SEMANTICS K2).
    public var isDeleted: Bool
    /// Whether it does not pass the filter though an earlier revision may have: it is not replicated, only reported if
    /// the target has it (SEMANTICS 132).
    public var mayHaveLeft = false

    /// Creates a change.
    public init(sequence: PeerSequence, id: DocumentID, leaves: [RevisionID], isDeleted: Bool = false) {
        self.sequence = sequence
        self.id = id
        self.leaves = leaves
        self.isDeleted = isDeleted
    }
}
