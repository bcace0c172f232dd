internal import SettleCore
internal import SettleDatabase

/// A document of which the target lacks revisions, from the comparison to the end.
struct FlowJob: Sendable {
    /// The change that announced it.
    var row: FlowRow
    /// The revisions to fetch.
    var requests: [RevisionRequest]
    /// The fetched revisions that are not stored yet.
    var received: [PeerRevision] = []
    /// The memory that they use, in bytes.
    var bytes = 0
    /// The requests that failed in this attempt and may succeed in another.
    var failed: [(request: RevisionRequest, error: PeerError)] = []
    /// The number of failed attempts.
    var failures = 0
    /// Its outcome.
    var report: DocumentReport

    init(_ row: FlowRow, missing: RevisionsDiff) {
        self.row = row
        let winner = row.change.isDeleted ? row.change.leaves.first : nil
        requests = missing.missing.map { revision in
            RevisionRequest(
                id: row.change.id, revision: revision, knownAncestors: missing.possibleAncestors,
                isDeletionAtSource: revision == winner)
        }
        report = DocumentReport(id: row.change.id, revisions: missing.missing, isDeleted: row.change.isDeleted)
        report.losers = row.losers
    }
}

/// A change on its way to be compared.
struct FlowRow: Sendable {
    /// The number in the tracker.
    var number: Int
    /// Earlier changes of the same document, which this one replaces.
    var earlier: [Int] = []
    /// Whether its leaves are counted already, because it was tried before.
    var isCounted = false
    /// The revisions that are counted as failed.
    var failed: Set<RevisionID> = []
    /// The change.
    var change: ChangedDocument
    /// The leaves that stay at the source because only winners are replicated.
    private(set) var losers: [RevisionID] = []

    init(number: Int, change: ChangedDocument) { (self.number, self.change) = (number, change) }

    /// Leaves all leaves except for the winner at the source.
    mutating func keepOnlyWinner() {
        losers = Array(change.leaves.dropFirst())
        change.leaves = Array(change.leaves.prefix(1))
    }
}

/// The outcome of one attempt to replicate a document.
struct DocumentReport: Sendable {
    /// The document.
    var id: DocumentID
    /// The revisions that the target lacked.
    var revisions: [RevisionID]
    /// Whether the source's winner is a tombstone.
    var isDeleted: Bool
    /// The source's winner, if it no longer passes the filter and the target has an earlier state.
    var left: RevisionID?
    /// The leaves that were left at the source because only winners are replicated.
    var losers: [RevisionID] = []
    /// The revisions that were not replicated, each with the reason.
    var problems: [Problem] = []

    /// The reason why one revision was not replicated.
    struct Problem: Sendable {
        /// The kinds of problem.
        enum Kind: Sendable { case refused, failed, gone }
        var revision: RevisionID
        var kind: Kind
        var error: PeerError
    }
}
