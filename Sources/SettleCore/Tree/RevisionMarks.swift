/// Properties of a revision besides its place in the tree.
public struct RevisionMarks: OptionSet, Hashable, Sendable {
    /// The marks as bits.
    public let rawValue: UInt8

    /// It closes the losing branch of a settled conflict: a tombstone whose body says
    /// `{"$closed":"<surviving revision>"}`. It is not a user's deletion (SEMANTICS K2).
    public static let closing = RevisionMarks(rawValue: 1)
    /// It is known to be a user's deletion: the whole document was deleted where it was made (K2, first test).
    public static let deletion = RevisionMarks(rawValue: 2)
    /// It was replicated from a peer while another leaf was here, so that in this conflict it is the remote side.
    public static let incoming = RevisionMarks(rawValue: 4)

    static let all: RevisionMarks = [.closing, .deletion, .incoming]

    /// Makes marks from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}
