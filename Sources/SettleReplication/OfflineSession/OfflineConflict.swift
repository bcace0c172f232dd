public import SettleCore
public import SettleDatabase

/// An operation that the server refused, with three sides: the document before it, after it, and at the server.
public struct OfflineConflict: Sendable, Hashable {
    /// Why it was refused.
    public enum Reason: Sendable, Hashable {
        /// The document was changed at the server since this client read it.
        case changed
        /// The server refuses it whatever the document's state there: permissions, a validation, its size.
        case refused(String)
    }

    /// The number of the operation's entry in the journal.
    public let number: Int64
    /// The document.
    public let documentID: DocumentID
    /// What the operation does.
    public let operation: JournalEntry.Operation
    /// The document before the operation; `nil` for a create.
    public let old: RevisionContent?
    /// The document after the operation; `nil` for a deletion.
    public let new: RevisionContent?
    /// The document's members at the server; `nil` if it is deleted there or never existed.
    public let server: DocumentBody?
    /// Whether the document was deleted at the server. If not, and ``server`` is `nil`, it never existed there.
    public let isDeletedAtServer: Bool
    /// The server's revision and its ancestors.
    let serverHistory: RevisionHistory?
    /// Why it was refused.
    public let reason: Reason
    /// The server's own message, like `Document update conflict.` or that of a validation; empty if there was none.
    public let message: String

    /// The server's revision; `nil` if the document is deleted or never existed there.
    public var serverRevision: RevisionID? { serverHistory?.revision }
}
