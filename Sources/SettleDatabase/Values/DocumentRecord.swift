public import SettleCore

/// A document in a storage engine: its revision tree and the content of the winner.
public struct DocumentRecord: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The position of its last change; the engine assigns it when the record is written.
    public var sequence: UpdateSequence
    /// All its revisions.
    public var tree: RevisionTree
    /// The winner's content; `nil` if the reader did not request it.
    public var content: RevisionContent?
    /// Why the tree, which is then empty, or the winner's content can't be read; `nil` for an intact document.
    public var damage: DatabaseError? {
        get { failure as? DatabaseError }
        set { failure = newValue }
    }
    /// An error takes one word here, and almost no document has one.
    private var failure: (any Error)?

    /// Creates a record.
    public init(id: DocumentID, sequence: UpdateSequence, tree: RevisionTree, content: RevisionContent?) {
        self.id = id
        self.sequence = sequence
        self.tree = tree
        self.content = content
    }
}
