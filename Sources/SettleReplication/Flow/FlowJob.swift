internal import SettleCore
internal import SettleDatabase

/// A document of which something is missing at the target, from its comparison to the end.
struct FlowJob: Sendable {
    /// The change that announced it.
    var row: FlowRow
    /// The revisions to fetch.
    var requests: [RevisionRequest]
    /// What was fetched and is not stored.
    var received: [PeerRevision] = []
    /// How many bytes of memory that takes.
    var bytes = 0
    /// What failed in this attempt and may be had in another.
    var failed: [(request: RevisionRequest, error: PeerError)] = []
    /// The number of times that it failed.
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
    /// Its number in the tracker.
    var number: Int
    /// Earlier changes of the same document that this one stands for too.
    var earlier: [Int] = []
    /// Whether its leaves are counted, because it was tried before.
    var isCounted = false
    /// Revisions that are counted as failed.
    var failed: Set<RevisionID> = []
    /// The change.
    var change: ChangedDocument
    /// Leaves that stay at the source because only winners are replicated.
    private(set) var losers: [RevisionID] = []

    init(number: Int, change: ChangedDocument) { (self.number, self.change) = (number, change) }

    /// Leaves all leaves but the winner at the source.
    mutating func keepOnlyWinner() {
        losers = Array(change.leaves.dropFirst())
        change.leaves = Array(change.leaves.prefix(1))
    }
}

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
