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
///     update, update            one update: of each attribute the last value, and when it was given
///     update, delete            a delete
///     delete, create            an update that replaces all attributes
public struct PendingChange: Sendable, Hashable, Identifiable {
    /// A change of one attribute: a top-level member of the document.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's name; `_attachments` for the list of attachments.
        public let name: String
        /// Its last value; `nil` if it was removed.
        public let value: JSONValue?
        /// The time of that change, by this machine's clock.
        public let time: Date

        /// Creates a change.
        package init(name: String, value: JSONValue?, time: Date) {
            self.name = name
            self.value = value
            self.time = time
        }
    }

    /// The document.
    public let documentID: DocumentID
    /// The effect of the change on the document.
    public let operation: JournalEntry.Operation
    /// The attributes in the order in which they were first changed; empty for a deletion. A attribute that was changed
    /// back to the synchronized value is included, because the change was intended (SEMANTICS 153).
    public let attributes: [Attribute]
    /// The revision that includes the whole change.
    public let revision: RevisionID
    /// The time of the last operation.
    public let time: Date

    /// Creates a change.
    package init(
        documentID: DocumentID, operation: JournalEntry.Operation, attributes: [Attribute], revision: RevisionID,
        time: Date
    ) {
        self.documentID = documentID
        self.operation = operation
        self.attributes = attributes
        self.revision = revision
        self.time = time
    }

    /// The document's id, which identifies the change.
    public var id: DocumentID { documentID }
}

/// The form of an object in `POST /{db}/_local_changes`, plus the operation:
///
///     {"id": "17bb2c1c", "operation": "UPDATE", "changes": [{"attribute": "name", "value": "New", "timestamp": 1423083473}]}
extension PendingChange: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id, operation, changes
    }

    /// Encodes the document's id, the operation and the changes of attributes, in order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(documentID.string, forKey: .id)
        try container.encode(operation.rawValue, forKey: .operation)
        try container.encode(attributes, forKey: .changes)
    }
}

/// The form of a change in `POST /{db}/_local_changes`. The timestamp is in seconds since 1970; for a removed attribute
/// the value is absent.
extension PendingChange.Attribute: Encodable {
    private enum CodingKeys: String, CodingKey {
        case attribute, value, timestamp
    }

    /// Encodes the attribute's name, its value and the time of the change.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .attribute)
        try container.encodeIfPresent(value, forKey: .value)
        let milliseconds = time.milliseconds
        if milliseconds % 1000 == 0 {
            try container.encode(milliseconds / 1000, forKey: .timestamp)
        } else {
            try container.encode(Double(milliseconds) / 1000, forKey: .timestamp)
        }
    }
}
