internal import SettleCore

/// The outcome of one attempt to replicate a document.
struct DocumentReport: Sendable {
    /// The document.
    var id: DocumentID
    /// Its revisions that were missing at the target.
    var revisions: [RevisionID]
    /// Whether the source's winner is a tombstone.
    var isDeleted: Bool
    /// The source's winner, if it no longer passes the filter and the target has an earlier state.
    var left: RevisionID?
    /// The revisions that were not replicated, each with the reason.
    var problems: [Problem] = []

    /// Why one revision was not replicated.
    struct Problem: Sendable {
        /// The kinds of problem.
        enum Kind: Sendable { case refused, failed, gone }
        var revision: RevisionID
        var kind: Kind
        var error: PeerError
    }
}
