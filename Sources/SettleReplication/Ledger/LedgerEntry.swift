public import RevisionTree

/// A document that a replication has not brought, or whose conflict it has not settled.
public struct LedgerEntry: Sendable, Hashable {
    /// Why it is listed.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The target will not have it as it is; it is not tried again until it changes (SEMANTICS 117, 205).
        case refused
        /// It could not be brought; it is tried again (SEMANTICS 111).
        case failed
        /// The source had no content for it any more.
        case gone
        /// It is here, but its conflict could not be settled; the next start tries again (SEMANTICS 31).
        case conflicted
        /// It does not pass the filter any more, or was deleted without the members that the filter asks for; the target keeps
        /// an earlier state of it until it passes again (SEMANTICS 132).
        case left
    }

    /// The document.
    public var documentID: DocumentID
    /// The revision; of a conflict, none.
    public var revision: RevisionID?
    /// Why it is listed.
    public var kind: Kind
    /// What was said about it.
    public var reason: String
    /// The HTTP status that was given with it, such as a validation's 403.
    public var status: Int?
    /// How often it was tried.
    public var attempts: Int
}
