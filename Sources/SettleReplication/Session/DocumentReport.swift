internal import RevisionTree

/// What became of a document in one attempt.
struct DocumentReport: Sendable {
    /// The document.
    var id: DocumentID
    /// Its revisions that were missing at the target.
    var revisions: [RevisionID]
    /// Whether the source's winner is a tombstone.
    var isDeleted: Bool
    /// The source's winner, where it does not pass the filter any more and the target has an earlier state.
    var left: RevisionID?
    /// Those that were not brought, each with the reason.
    var problems: [Problem] = []

    /// Why one revision was not brought.
    struct Problem: Sendable {
        /// The kinds of problem.
        enum Kind: Sendable { case refused, failed, gone }
        var revision: RevisionID
        var kind: Kind
        var error: PeerError
    }
}
