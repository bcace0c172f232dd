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
        /// The object refers to an object of the same call that was refused and does not exist, so it has to wait.
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

    /// The string values that are ids of the given objects.
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

/// A change of one attribute of an object by a thin client, with its time.
package struct AttributeChange: Sendable {
    /// The attribute: a top-level member's name.
    package let name: String
    /// The new value; `nil` if the attribute was removed.
    package let value: JSONValue?
    /// The time of the change.
    package let moment: AttributeClock

    /// Creates a change.
    package init(_ name: String, _ value: JSONValue?, at moment: AttributeClock) {
        self.name = name
        self.value = value
        self.moment = moment
    }

    /// The outcome of a change.
    package enum Outcome: Sendable, Hashable {
        /// The object has the value.
        case applied
        /// A later change is kept. Its value, `nil` if it removed the attribute, and its clock are returned.
        case superseded(by: JSONValue?, at: AttributeClock?)
        /// The object stays deleted. The time of the deletion is returned, if known.
        case deleted(at: AttributeClock?)
    }
}

// MARK: - ReferenceOrder

/// Orders objects so that each is written after the objects it refers to.
///
///     given    transfer → envelope    envelope    account
///     order    envelope               transfer    account
///
/// In a cycle of references, the object that was given first is written first.
struct ReferenceOrder {
    private let objects: [ObjectChanges]
    private let ids: Set<DocumentID>
    private let positions: [DocumentID: [Int]]

    init(_ objects: [ObjectChanges], and others: [DocumentID]) {
        self.objects = objects
        ids = Set(objects.map(\.id) + others)
        positions = Dictionary(grouping: objects.indices) { objects[$0].id }
    }

    /// The objects of the call that an object refers to.
    func references(of index: Int) -> [DocumentID] { objects[index].references(among: ids) }

    /// The positions of all objects, referenced ones before those that refer to them.
    ///
    /// - Complexity: O(*n*) in bytes of changes.
    var order: [Int] {
        var order: [Int] = []
        var isTaken = [Bool](repeating: false, count: objects.count)
        for first in objects.indices where !isTaken[first] {
            isTaken[first] = true
            // Each object with its unvisited references. The stack is explicit, because a chain may be long.
            var path = [(index: first, rest: next(of: first))]
            while let (index, rest) = path.last {
                guard let following = rest.last else {
                    order.append(index)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].rest.removeLast()
                guard !isTaken[following] else { continue }
                isTaken[following] = true
                path.append((following, next(of: following)))
            }
        }
        return order
    }

    private func next(of index: Int) -> [Int] { references(of: index).flatMap { positions[$0] ?? [] }.reversed() }
}

// MARK: - Object Changes

extension Database {
    /// Changes attributes of objects, except those that were changed later.
    ///
    ///     stored    {"name": "Holiday 2015" @3, "budget": 40 @1}
    ///     changes   name → "Family Holidays" @2, budget → 50 @2
    ///     becomes   {"name": "Holiday 2015" @3, "budget": 50 @2}      name was superseded
    ///
    /// All changes of one object are one revision (SEMANTICS 150, 168). Sending the same changes again writes
    /// nothing and has the same outcomes, unless there was a later change in between. A missing object is created.
    /// A deleted one is revived with its former content if a change is later than the deletion, whose time is
    /// known; otherwise it stays deleted (166). A member changed by an edit of other software has no clock, so any
    /// change replaces it.
    ///
    /// If an object refers to another object of the same call, because its values contain that object's id, it is
    /// written after that object. If that object is refused and does not exist, the object waits for it (SEMANTICS
    /// 167).
    ///
    /// - Parameters:
    ///   - objects: The changes.
    ///   - latest: The latest trusted time, in milliseconds since 1970. A stored clock that is later is overridden.
    ///   - refused: The objects of the call that were refused before.
    ///   - check: Called for each revision before it is written.
    /// - Returns: The outcome of each object, in the order given.
    /// - Throws: ``DatabaseError`` if the whole transaction fails, ``WriteCheck/IsOld``; nothing is then written.
    package func change(
        _ objects: [ObjectChanges], believing latest: Int64, refused: [DocumentID] = [], asking check: WriteCheck? = nil
    ) throws -> [ObjectChanges.Outcome] {
        try commit { editor in
            try editor.begin(check)
            let order = ReferenceOrder(objects, and: refused)
            var lacking = Set(try refused.filter { try !editor.isThere($0) })
            var outcomes: [Int: ObjectChanges.Outcome] = [:]
            for index in order.order {
                let object = objects[index]
                if let missing = order.references(of: index).first(where: lacking.contains) {
                    outcomes[index] = .waits(for: missing)
                } else {
                    do {
                        let resolved = try editor.withoutClocks.asking(check, at: index).change(
                            object, believing: latest)
                        outcomes[index] = .resolved(resolved)
                        continue
                    } catch let error as DatabaseError where error.code.isOfOneDocument {
                        outcomes[index] = .refused(error)
                    }
                }
                if try !editor.isThere(object.id) { lacking.insert(object.id) }
            }
            return objects.indices.compactMap { outcomes[$0] }
        }
    }
}

extension DocumentEditor {
    /// Whether a document exists and is not deleted.
    fileprivate func isThere(_ id: DocumentID) throws -> Bool {
        try writer.record(of: id, withContent: false).map { !$0.tree.isDeleted } ?? false
    }

    fileprivate func change(_ object: ObjectChanges, believing latest: Int64) throws -> ObjectChanges.Resolved {
        let record = try writer.record(of: object.id, withContent: true)
        let winner = record?.tree.winner
        var document = try clocked(winner?.revision, in: record)
        if winner?.isDeleted == true {
            guard let deletion = document.deletion,
                object.changes.contains(where: { $0.moment > deletion || deletion.milliseconds > latest })
            else {
                let outcomes = object.changes.map { _ in AttributeChange.Outcome.deleted(at: document.deletion) }
                return ObjectChanges.Resolved(revision: winner?.revision, isWritten: false, changes: outcomes)
            }
            document = try clocked(winner.flatMap { record?.tree.parent(of: $0.revision) }, in: record)
        }
        try see(to: object.type, in: &document, object)
        let before = document
        let written = document.write(object.changes.map { ($0.name, $0.value, $0.moment) }, believing: latest)
        let outcomes = zip(object.changes, written).map { change, now in
            now.value == change.value
                ? AttributeChange.Outcome.applied : .superseded(by: now.value, at: now.newest)
        }
        guard winner == nil || winner?.isDeleted == true || document != before else {
            return ObjectChanges.Resolved(revision: winner?.revision, isWritten: false, changes: outcomes)
        }
        let attachments = winner?.isDeleted == false ? record?.content?.attachments ?? [] : []
        let body = try DocumentBody(.object(document.document))
        let edit = DocumentEdit(id: object.id, parent: winner?.revision, body: body, attachments: attachments)
        let made = try self.edit(edit, in: record)
        if winner?.isDeleted == true { try closeDeletions(of: edit.id, for: made.revision) }
        return ObjectChanges.Resolved(revision: made.revision, isWritten: true, changes: outcomes)
    }

    /// Checks that an object has the given type; a new object gets it.
    private func see(
        to type: (name: String, value: String), in document: inout ClockedDocument, _ object: ObjectChanges
    ) throws {
        if let known = document.members[type.name] {
            guard known != .string(type.value) else { return }
            throw DatabaseError(
                .invalid, "\"\(object.id)\" is of another type: its member \"\(type.name)\" is \(known)")
        }
        guard document.members.isEmpty, let first = object.changes.map(\.moment).min() else { return }
        document.write(type.name, .string(type.value), at: first)
    }
}
