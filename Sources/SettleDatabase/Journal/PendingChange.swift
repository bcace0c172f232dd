public import RevisionTree

/// What is to be sent of one document: all its operations since the last synchronization as one (SEMANTICS 150).
///
///     create, update            one create with the final values
///     create, delete            nothing
///     update, update            one update: of each attribute the last value, and when it was given
///     update, delete            a delete
///     delete, create            an update that replaces all attributes
public struct PendingChange: Sendable, Hashable, Identifiable {
    /// A change of one attribute: a member at the top of the document.
    public struct Attribute: Sendable, Hashable {
        /// The member's name; `_attachments` for the list of attachments.
        public let name: String
        /// The value it was given last; `nil` where it was removed.
        public let value: JSON?
        /// When that was, by the clock of this machine, in milliseconds since 1970.
        public let time: Int64

        /// Makes a change.
        public init(name: String, value: JSON?, time: Int64) {
            self.name = name
            self.value = value
            self.time = time
        }
    }

    /// The document.
    public let documentID: DocumentID
    /// What is to become of it.
    public let operation: JournalEntry.Operation
    /// The attributes in the order in which they were changed first; none for a deletion. One that was changed back to the
    /// synchronized value stays, for that value was meant (SEMANTICS 153).
    public let attributes: [Attribute]
    /// The revision that has all of it.
    public let revision: RevisionID
    /// When the last operation was, in milliseconds since 1970.
    public let time: Int64

    /// Makes a change.
    public init(
        documentID: DocumentID, operation: JournalEntry.Operation, attributes: [Attribute], revision: RevisionID,
        time: Int64
    ) {
        self.documentID = documentID
        self.operation = operation
        self.attributes = attributes
        self.revision = revision
        self.time = time
    }

    /// The document's id, by which it is told from others.
    public var id: DocumentID { documentID }
}
