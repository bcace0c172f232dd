public import SettleCore

/// What a database lacks of a document that a peer has: one row of CouchDB's `_revs_diff`.
public struct RevisionsDiff: Sendable, Hashable {
    /// The document's id.
    public let id: DocumentID
    /// The revisions that are not here.
    public let missing: [RevisionID]
    /// Leaves here that the missing revisions may descend from; a peer that has one of them may omit what that has too.
    public let possibleAncestors: [RevisionID]

    /// Creates a row.
    public init(id: DocumentID, missing: [RevisionID], possibleAncestors: [RevisionID] = []) {
        self.id = id
        self.missing = missing
        self.possibleAncestors = possibleAncestors
    }
}
