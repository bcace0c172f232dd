public import RevisionTree

/// What a database lacks of a document that a peer has: one row of CouchDB's `_revs_diff`.
public struct RevisionsDiff: Sendable, Hashable {
    /// The document's id.
    public let id: DocumentID
    /// The revisions that are not here.
    public let missing: [RevisionID]
    /// Leaves here that the missing ones may descend from; a peer that knows one may leave out what it has too.
    public let possibleAncestors: [RevisionID]

    /// Makes a row.
    public init(id: DocumentID, missing: [RevisionID], possibleAncestors: [RevisionID] = []) {
        self.id = id
        self.missing = missing
        self.possibleAncestors = possibleAncestors
    }
}
