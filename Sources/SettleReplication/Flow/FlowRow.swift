internal import SettleCore

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
}
