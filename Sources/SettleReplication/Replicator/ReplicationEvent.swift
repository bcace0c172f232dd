public import RevisionTree
public import SettleDatabase

/// Something that happened in a replication and that an app may want to show.
public enum ReplicationEvent: Sendable {
    /// What became of a document: one event for each attempt, after its conflict was settled if it has one
    /// (SEMANTICS 33).
    case document(DocumentReplication)
    /// Something that an app should know though nothing failed.
    case warning(ReplicationWarning)
}

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
        case .replicated, .settled: nil
        case .unsettled(let error): error
        case .failed(let error): error
        }
    }
}

/// Something that an app should know though nothing failed.
public struct ReplicationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of warning; more may be added.
    public struct Kind: Hashable, Sendable {
        /// The kind's name.
        public let name: String
        /// A peer is not what it was at the last checkpoint, so documents are compared again (SEMANTICS 206).
        public static let resync = Kind(name: "resync")
        /// One side does not allow a log, so the other one's alone is trusted.
        public static let checkpointOnOneSide = Kind(name: "checkpoint_on_one_side")
        /// No checkpoint could be written; the next run compares documents again.
        public static let checkpointNotWritten = Kind(name: "checkpoint_not_written")
    }

    /// What kind it is.
    public let kind: Kind
    /// What happened, and what it means.
    public let message: String

    /// The message.
    public var description: String { message }
}
