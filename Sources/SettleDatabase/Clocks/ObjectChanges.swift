package import SettleCore

/// What is to be changed of one object, all of it at once.
package struct ObjectChanges: Sendable {
    /// The document's id.
    package let id: DocumentID
    /// The name and value of the member that says what type the object is of.
    package let type: (name: String, value: String)
    /// The changes, in the order they were made.
    package let changes: [AttributeChange]

    /// Makes the changes of one object.
    package init(_ id: DocumentID, type: (name: String, value: String), changes: [AttributeChange]) {
        self.id = id
        self.type = type
        self.changes = changes
    }

    /// What became of the changes of one object.
    package enum Outcome: Sendable {
        /// Each change was applied, or superseded by something later.
        case resolved(Resolved)
        /// Nothing of it was written, and why.
        case refused(DatabaseError)
        /// It refers to an object of the same call that was refused and is not there, so it has to wait for that one.
        case waits(for: DocumentID)
    }

    /// The outcomes of all changes of an object.
    package struct Resolved: Sendable {
        /// The document's winner now; `nil` when there is no such document.
        package let revision: RevisionID?
        /// Whether a revision was written.
        package let isWritten: Bool
        /// What became of each change, in order.
        package let changes: [AttributeChange.Outcome]
    }

    /// The texts among the values that name one of some objects.
    func references(among ids: Set<DocumentID>) -> [DocumentID] {
        var found: [DocumentID] = []
        func look(_ value: JSON?) {
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

/// A change of one attribute of an object, with the moment it was made at: what a thin client has to send.
package struct AttributeChange: Sendable {
    /// The attribute: a top-level member's name.
    package let name: String
    /// The value it was changed to; `nil` when it was removed.
    package let value: JSON?
    /// When it was changed.
    package let moment: AttributeClock

    /// Makes a change.
    package init(_ name: String, _ value: JSON?, at moment: AttributeClock) {
        self.name = name
        self.value = value
        self.moment = moment
    }

    /// What became of a change.
    package enum Outcome: Sendable, Hashable {
        /// The object has the value now, or had it already.
        case applied
        /// A later change stays: the value the attribute has, `nil` for none, and when it got it.
        case superseded(by: JSON?, at: AttributeClock?)
        /// The object is deleted and stays so; when it was deleted, if that is known.
        case deleted(at: AttributeClock?)
    }
}
