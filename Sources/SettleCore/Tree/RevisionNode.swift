/// One revision in a ``RevisionTree``.
public struct RevisionNode: Hashable, Sendable {
    /// The revision's id.
    public let revision: RevisionID
    /// Whether the edit deleted the document; unknown for inner revisions that arrived only as part of a history.
    public internal(set) var isDeleted: Bool
    /// Whether an edit was made on top of this one, so that it is not a leaf.
    package internal(set) var isSuperseded: Bool
    /// Whether some peer is known to have this revision: it came from there, or was sent and acknowledged.
    package internal(set) var isShared: Bool
    /// Further properties of the revision.
    package internal(set) var marks: RevisionMarks
    /// An opaque number for the store of bodies, 0 for none; the tree carries it without interpreting it.
    package internal(set) var bodyToken: UInt64
    /// The parent's index, or -1.
    var parent: Int32

    init(
        _ revision: RevisionID, parent: Int? = nil, isDeleted: Bool = false, isSuperseded: Bool = false,
        isShared: Bool = false, marks: RevisionMarks = [], bodyToken: UInt64 = 0
    ) {
        self.revision = revision
        self.parent = parent.map { Int32(truncatingIfNeeded: $0) } ?? -1
        self.isDeleted = isDeleted
        self.isSuperseded = isSuperseded
        self.isShared = isShared
        self.marks = marks
        self.bodyToken = bodyToken
    }

    /// Whether no edit was made on top of this one.
    public var isLeaf: Bool { !isSuperseded }

    var parentIndex: Int? {
        get { parent < 0 ? nil : Int(parent) }
        set { parent = newValue.map { Int32(truncatingIfNeeded: $0) } ?? -1 }
    }
}

/// Properties of a revision besides its place in the tree.
package struct RevisionMarks: OptionSet, Hashable, Sendable {
    /// The marks as bits.
    package let rawValue: UInt8

    /// It closes the losing branch of a settled conflict: a tombstone whose body says
    /// `{"$closed":"<surviving revision>"}`. It is not a user's deletion (SEMANTICS K2).
    package static let closing = RevisionMarks(rawValue: 1)
    /// It is known to be a user's deletion: the whole document was deleted where it was made (K2, first test).
    package static let deletion = RevisionMarks(rawValue: 2)
    /// It was replicated from a peer while another leaf was here, so that in this conflict it is the remote side.
    package static let incoming = RevisionMarks(rawValue: 4)

    static let all: RevisionMarks = [.closing, .deletion, .incoming]

    /// Makes marks from bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
}
