public import RevisionTree
public import SettleDatabase

/// What became of a document in one attempt.
public struct DocumentReplication: Sendable {
    /// What became of it.
    public enum Outcome: Sendable {
        /// All of it is at the target.
        case replicated
        /// All of it is at the target, and its conflict was settled, or left as the policy said.
        case settled(Settlement)
        /// It is at the target, and its conflict could not be settled (SEMANTICS 30).
        case unsettled(DatabaseError)
        /// The target will not have some of it, or it could not be brought; ``ReplicationLedger`` says for each revision.
        case failed(PeerError)
        /// It does not pass the filter any more: it was not brought, and the target keeps an earlier state of it.
        case left
    }

    /// Which way it went.
    public let direction: ReplicationDirection
    /// The document.
    public let documentID: DocumentID
    /// Its revisions that the target had not; none for a conflict that was here before.
    public let revisions: [RevisionID]
    /// Whether it is deleted at the source.
    public let isDeleted: Bool
    /// What became of it.
    public let outcome: Outcome

    /// Why it failed, if it did.
    public var error: (any Error)? {
        switch outcome {
        case .replicated, .settled, .left: nil
        case .unsettled(let error): error
        case .failed(let error): error
        }
    }
}
