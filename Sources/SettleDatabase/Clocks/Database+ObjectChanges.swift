package import SettleCore

extension Database {
    /// Changes attributes of objects, except those that were changed later.
    ///
    ///     stored    {"name": "Holiday 2015" @3, "budget": 40 @1}
    ///     changes   name → "Family Holidays" @2, budget → 50 @2
    ///     becomes   {"name": "Holiday 2015" @3, "budget": 50 @2}      name was superseded
    ///
    /// All changes of one object are one revision (SEMANTICS 150, 168). The same changes again write nothing and have the
    /// same outcomes, unless there was a later change in between. A missing object is created. A deleted one is revived with its
    /// former content if a change is later than the deletion, whose time is known; otherwise it stays deleted (166). A member
    /// changed by a foreign edit is replaced by any change, because a known clock counts more.
    ///
    /// An object that refers to another one of the same call, by its id among the values, is written after that. If that one
    /// is refused and does not exist, the object waits for it (SEMANTICS 167).
    ///
    /// - Parameters:
    ///   - objects: The changes.
    ///   - latest: The latest trusted time, in milliseconds since 1970: a later stored clock is overridden.
    ///   - refused: Objects of the call that were refused before.
    ///   - check: Called for each revision before it is written.
    /// - Returns: The outcome of each object, in the order given.
    /// - Throws: ``DatabaseError`` if the whole transaction fails, ``WriteCheck/IsOld``; nothing is written then.
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
    /// Whether there is a document that is not deleted.
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
        let saved = try self.document(by: edit, in: record)
        if winner?.isDeleted == true { try closeDeletions(of: saved) }
        return ObjectChanges.Resolved(revision: saved.revision, isWritten: true, changes: outcomes)
    }

    /// Checks that an object has the given type; a new one gets it.
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
