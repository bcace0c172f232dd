public import SettleCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The pending change of one document: all its operations since the last synchronization combined (SEMANTICS 150).
///
///     create, update            one create with the final values
///     create, delete            nothing
///     update, update            one update: of each field the last value, and when it was given
///     update, delete            a delete
///     delete, create            an update that replaces all fields
public struct PendingChange: Sendable, Hashable, Identifiable {
    /// A change of one field: a top-level member of the document.
    public struct Field: Sendable, Hashable {
        /// The field's name; `_attachments` for the list of attachments.
        public let name: String
        /// Its last value; `nil` if it was removed.
        public let value: JSONValue?
        /// The time of that change, by this machine's clock.
        public let time: Date

        /// Creates a change.
        public init(name: String, value: JSONValue?, time: Date) {
            self.name = name
            self.value = value
            self.time = time
        }
    }

    /// The document.
    public let documentID: DocumentID
    /// What the change does to it.
    public let operation: JournalEntry.Operation
    /// The fields in the order in which they were first changed; none for a deletion. One that was changed back to
    /// the synchronized value stays, because the change was intended (SEMANTICS 153).
    public let fields: [Field]
    /// The revision that includes the whole change.
    public let revision: RevisionID
    /// The time of the last operation.
    public let time: Date

    /// Creates a change.
    public init(
        documentID: DocumentID, operation: JournalEntry.Operation, fields: [Field], revision: RevisionID,
        time: Date
    ) {
        self.documentID = documentID
        self.operation = operation
        self.fields = fields
        self.revision = revision
        self.time = time
    }

    /// The document's id, which identifies the change.
    public var id: DocumentID { documentID }
}
