package import SettleCore

/// The changes of one object, which are applied together.
package struct ObjectChanges: Sendable {
    /// The document's id.
    package let id: DocumentID
    /// The name and value of the member with the object's type.
    package let type: (name: String, value: String)
    /// The changes, in the order they were made.
    package let changes: [AttributeChange]

    /// Creates the changes of one object.
    package init(_ id: DocumentID, type: (name: String, value: String), changes: [AttributeChange]) {
        self.id = id
        self.type = type
        self.changes = changes
    }

    /// The outcome of an object's changes.
    package enum Outcome: Sendable {
        /// Each change was applied, or superseded by a later one.
        case resolved(Resolved)
        /// Nothing was written, for the given reason.
        case refused(DatabaseError)
        /// It refers to an object of the same call that was refused and does not exist, so it has to wait.
        case waits(for: DocumentID)
    }

    /// The outcomes of all changes of an object.
    package struct Resolved: Sendable {
        /// The document's current winner; `nil` if the document does not exist.
        package let revision: RevisionID?
        /// Whether a revision was written.
        package let isWritten: Bool
        /// The outcome of each change, in order.
        package let changes: [AttributeChange.Outcome]
    }

    /// The texts among the values that are ids of given objects.
    func references(among ids: Set<DocumentID>) -> [DocumentID] {
        var found: [DocumentID] = []
        func look(_ value: JSONValue?) {
            switch value {
            case .string(let text):
                let id = DocumentID(unchecked: text)
                if id != self.id, ids.contains(id) { found.append(id) }
            case .array(let elements): for element in elements { look(element) }
            case .object(let members): for member in members { look(member.value) }
            default: break
            }
        }
        for change in changes { look(change.value) }
        return found
    }
}

/// A thin client's change of one attribute of an object, with its time.
package struct AttributeChange: Sendable {
    /// The attribute: a top-level member's name.
    package let name: String
    /// The new value; `nil` if it was removed.
    package let value: JSONValue?
    /// The time of the change.
    package let moment: FieldClock

    /// Creates a change.
    package init(_ name: String, _ value: JSONValue?, at moment: FieldClock) {
        self.name = name
        self.value = value
        self.moment = moment
    }

    /// The outcome of a change.
    package enum Outcome: Sendable, Hashable {
        /// The object has the value.
        case applied
        /// A later change is kept: the attribute's value, `nil` for none, and its clock.
        case superseded(by: JSONValue?, at: FieldClock?)
        /// The object stays deleted; with the time of the deletion, if known.
        case deleted(at: FieldClock?)
    }
}
