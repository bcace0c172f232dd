public import SettleCore
public import SettleDatabase

/// The outcome of one attempt to replicate a document.
public struct DocumentReplication: Sendable {
    /// The outcome of a document.
    public enum Outcome: Sendable {
        /// The target has all of it.
        case replicated
        /// The target has all of it, and its conflict was settled, or left to the policy's choice.
        case settled(Settlement)
        /// The target has all of it, and its conflict could not be settled (SEMANTICS 30).
        case unsettled(DatabaseError)
        /// The target refused some of it, or it could not be replicated; ``ReplicationLedger`` has the reason for each
        /// revision.
        case failed(PeerError)
        /// It no longer passes the filter: it was not replicated, and the target keeps an earlier state of it.
        case left
    }

    /// The direction of the replication.
    public let direction: ReplicationDirection
    /// The document.
    public let documentID: DocumentID
    /// Its revisions that the target lacked; none for an existing conflict.
    public let revisions: [RevisionID]
    /// Whether it is deleted at the source.
    public let isDeleted: Bool
    /// The outcome.
    public let outcome: Outcome

    /// Why it failed; `nil` if it did not.
    public var error: (any Error)? {
        switch outcome {
        case .replicated, .settled, .left: nil
        case .unsettled(let error): error
        case .failed(let error): error
        }
    }
}
