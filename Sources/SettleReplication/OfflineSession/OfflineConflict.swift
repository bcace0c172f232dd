public import RevisionTree
public import SettleDatabase

/// An operation the server refused, seen from three sides: what the document was, what it became here, what it is there.
public struct OfflineConflict: Sendable, Hashable {
    /// Why it was refused.
    public enum Reason: Sendable, Hashable {
        /// The document was changed at the server since this client saw it.
        case changed
        /// The server does not take it, whatever the document is there: the rights, a validation, its size.
        case refused(String)
    }

    /// The number of the operation's entry in the journal.
    public let number: Int64
    /// The document.
    public let documentID: DocumentID
    /// What was to be done.
    public let operation: JournalEntry.Operation
    /// What the document was before; `nil` for a create.
    public let old: RevisionContent?
    /// What it was to become; `nil` for a deletion.
    public let new: RevisionContent?
    /// Its members at the server; `nil` where it is deleted or was never there.
    public let server: DocumentBody?
    /// Whether the document was deleted at the server; if not, and ``server`` is `nil`, it was never there.
    public let isDeletedAtServer: Bool
    /// The server's revision and its ancestors.
    let serverHistory: RevisionHistory?
    /// Why it was refused.
    public let reason: Reason
    /// What the server said, in its own words, as in `Document update conflict.` or what a validation says; empty where it
    /// said nothing.
    public let message: String

    /// The server's revision; `nil` where the document is deleted or was never there.
    public var serverRevision: RevisionID? { serverHistory?.revision }
}
