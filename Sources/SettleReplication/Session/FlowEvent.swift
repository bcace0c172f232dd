internal import RevisionTree
internal import SettleDatabase

/// What happens to a flow; see ``Flow``.
enum FlowEvent: Sendable {
    /// It begins.
    case begin
    /// Changes were read, or not.
    case changes(Int, Result<ChangesPage, PeerError>)
    /// Changes were compared with what the target has, or not.
    case differences(Int, Result<[RevisionsDiff], PeerError>)
    /// Revisions were fetched, or not, and how long it took.
    case revisions(Int, Result<[RevisionAnswer], PeerError>, took: Duration)
    /// Revisions were stored, or not.
    case outcomes(Int, Result<[StoreOutcome], PeerError>)
    /// The time has come that a call was to wait for.
    case time(Int)
    /// The network changed: what waits for another attempt need not wait.
    case network
    /// What is here is to be stored, and nothing else to be begun.
    case stop
}

/// What a flow wants done; each call by its number is answered by an event with that number.
enum FlowAction: Sendable {
    /// Read changes.
    case read(Int, ChangesRequest)
    /// Compare changes with what the target has.
    case compare(Int, [ChangedDocument])
    /// Fetch revisions, of so many bytes at the most.
    case fetch(Int, [RevisionRequest], budget: Int)
    /// Store revisions.
    case store(Int, [PeerRevision])
    /// Wait.
    case wait(Int, Duration)
    /// Tell what became of a document.
    case report(DocumentReport)
    /// The source is not what it was: begin anew from the logs.
    case startOver
    /// It has ended: all is done, or it was stopped, or it can't go on.
    case end(PeerError?)
}

/// What became of a document in one attempt.
struct DocumentReport: Sendable {
    /// The document.
    var id: DocumentID
    /// Its revisions that were missing at the target.
    var revisions: [RevisionID]
    /// Whether the source's winner is a tombstone.
    var isDeleted: Bool
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
