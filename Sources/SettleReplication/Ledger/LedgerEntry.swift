public import SettleCore

/// A document that a replication could not replicate, or whose conflict it could not settle.
public struct LedgerEntry: Sendable, Hashable {
    /// Why it is listed.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The target refuses it; the replication retries only after it changes (SEMANTICS 117, 205).
        case refused
        /// It could not be replicated; the replication retries it (SEMANTICS 111).
        case failed
        /// The source no longer had its content.
        case gone
        /// It was replicated, but its conflict could not be settled; the next start retries (SEMANTICS 31).
        case conflicted
        /// It no longer passes the filter, or was deleted without the members that the filter tests. The target keeps
        /// an earlier state of it until it passes again (SEMANTICS 132).
        case left
    }

    /// The document.
    public var documentID: DocumentID
    /// The revision; `nil` for a conflict.
    public var revision: RevisionID?
    /// Why it is listed.
    public var kind: Kind
    /// The error message.
    public var reason: String
    /// The HTTP status of the failure, such as a validation's 403.
    public var status: Int?
    /// How many attempts failed.
    public var attempts: Int
}
