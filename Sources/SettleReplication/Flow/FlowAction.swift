internal import SettleCore
internal import SettleDatabase

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
    /// Look whether the peers that are reached over a network are there.
    case probe(Int)
    /// Wait.
    case wait(Int, Duration)
    /// Tell what became of a document.
    case report(DocumentReport)
    /// All of these documents is at the target.
    case present([DocumentID])
    /// The source is not what it was: begin anew from the logs.
    case startOver
    /// It has ended: all is done, or it was stopped, or it can't go on.
    case end(PeerError?)
}
