public import SettleCore

/// A changed document, at the position of its last change.
public struct Change: Sendable {
    /// The leaves that a change lists.
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
    /// The listed leaves without the winner.
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

// MARK: - UpdateSequence

/// A position in a database's order of changes: every write of a document gets the next one, from 1.
///
/// Sequences belong to one database; a replica of the same documents has different ones (SEMANTICS 204).
public struct UpdateSequence: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The position as a number.
    public let number: Int64

    /// Creates a sequence from a number.
    public init(_ number: Int64) { self.number = number }

    /// Creates a sequence from a literal.
    public init(integerLiteral value: Int64) { number = value }

    /// Orders by position.
    public static func < (left: UpdateSequence, right: UpdateSequence) -> Bool { left.number < right.number }

    /// The position as text.
    public var description: String { String(number) }
}

// MARK: - Commit

/// A commit of a database since it was opened.
package struct Commit: Sendable, Equatable {
    /// The number of commits that preceded it.
    private var number: UInt64 = 0
    /// The position of the newest change at this commit. A purge advances it, a setting does not.
    package private(set) var sequence: UpdateSequence

    /// The state when the database was opened.
    init(sequence: UpdateSequence) { self.sequence = sequence }

    /// Advances to the next commit.
    mutating func follow(_ sequence: UpdateSequence) {
        number += 1
        self.sequence = sequence
    }
}
