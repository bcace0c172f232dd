public import SettleCore

/// A changed document, at the position of its last change.
public struct Change: Sendable {
    /// Which leaves a change lists.
    public enum Style: Sendable, Hashable {
        /// The winner only: CouchDB's `main_only`.
        case winner
        /// Every leaf, winner first: CouchDB's `all_docs`, which replication needs.
        case allLeaves
    }

    /// The position of the document's last change.
    public let sequence: UpdateSequence
    /// The document's id.
    public let id: DocumentID
    /// The winner.
    public let winner: RevisionID
    /// Whether the document is deleted.
    public let isDeleted: Bool
    /// The listed leaves beside the winner.
    private let otherLeaves: [RevisionID]
    /// The winner as a document, even if it is a tombstone; `nil` unless documents were requested.
    public let document: Document?

    /// The listed leaves, winner first; live ones before tombstones.
    public var leaves: [RevisionID] { [winner] + otherLeaves }

    init?(_ record: DocumentRecord, style: Style, origin: UInt64) {
        guard let winner = record.tree.winner else { return nil }
        sequence = record.sequence
        id = record.id
        self.winner = winner.revision
        isDeleted = winner.isDeleted
        otherLeaves =
            style == .winner || record.tree.count == 1
            ? [] : record.tree.leaves.dropFirst().map(\.revision)
        document = record.content.map {
            Document(id: record.id, revision: winner.revision, isDeleted: winner.isDeleted, $0, origin: origin)
        }
    }
}
