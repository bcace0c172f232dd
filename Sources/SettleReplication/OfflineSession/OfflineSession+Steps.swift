internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension OfflineSession {
    /// Performs an action of the state machine; returns the resulting event.
    ///
    /// - Throws: ``DatabaseError`` of the storage.
    func perform(_ action: OfflineMachine.Action) async throws -> OfflineMachine.Event {
        do {
            switch action {
            case .lookForOperation:
                try await recordUndoneCreate()
                return .head(try await next() != nil)
            case .send:
                guard let entry = try await next() else { return .head(false) }
                let event = try await send(entry)
                if case .refused = event, records.sentCreate != nil { try remember { $0.sentCreate = nil } }
                return event
            case .fetch: return .fetched(at: try await fetchChanges())
            }
        } catch let error as PeerError { return error.isTransient ? .unreachable(error) : .failed(error) }
    }

    /// The journal's first operation. Operations on a document that was created and deleted since the last
    /// synchronization are removed, because nothing of it has to be sent (SEMANTICS 152), unless the server may have
    /// the document already.
    private func next() async throws -> JournalEntry? {
        let sent = records.sentCreate
        return try await database.perform { [journal] _ in
            while let entry = try journal.history(limit: 1).first {
                let all = entry.operation == .create ? try journal.history(of: entry.documentID) : []
                guard let last = all.last, last.new == nil, entry.number != sent?.number else { return entry }
                try journal.forget(entry.documentID)
            }
            return nil
        }
    }

    /// Makes the undo of a create an operation if the response to the create was lost and the server has the document.
    /// Otherwise the next fetch would bring the document back.
    func recordUndoneCreate() async throws {
        guard let sent = records.sentCreate else { return }
        let isUndone = try await database.perform { [journal] _ in
            try !journal.history(of: sent.id).contains { $0.number == sent.number }
        }
        guard isUndone else { return }
        let state = try await server.state(of: sent.id)
        try await database.perform { [self] _ in
            try recording {
                try acknowledge(sent, as: state)
                try remember { $0.sentCreate = nil }
            }
        }
    }

    /// Records that the server has a create, if its state is the result of that create.
    private func acknowledge(_ sent: OfflineRecords.SentCreate, as state: OfflineServer.State) throws {
        guard let body = state.body, let history = state.history else { return }
        if history.revision == sent.revision { return try database.markShared([(sent.id, sent.revision)]) }
        guard history.revisions.count == 1, let made = try database.document(sent.id, revision: sent.revision) else {
            return
        }
        let local = RevisionContent(body: try made.body(), attachments: made.attachments).withoutClocks
        guard unstamped(local.body) == unstamped(body), state.canResult(from: local.attachments) else { return }
        _ = try journal.revise(
            sent.number, of: sent.id, to: RevisionContent(body: body, attachments: local.attachments), isKept: false,
            onto: ReplicatedRevision(
                id: sent.id, history: history, isDeleted: false, body: body, attachments: local.attachments))
    }

    /// The server's state on which an operation is sent.
    private struct Base {
        var history: RevisionHistory?
        /// The attachments that the server is known to have in that state. Their contents are not sent.
        var attachments: [DocumentAttachment] = []
        /// The attachments that the server must still have for a merge.
        var expected: [DocumentAttachment] = []
    }

    /// Sends an operation, after getting the document's final id from the server if needed.
    private func send(_ given: JournalEntry) async throws -> OfflineMachine.Event {
        let entry = try await withFinalID(given)
        let base = try await base(of: entry)
        let time = options.stampAttribute == nil ? nil : options.time(try await server.time())
        var edit: OfflineServer.Edit
        do {
            edit = try await self.edit(entry, on: base, time)
        } catch let error as PeerError where error.code == .tooLarge {
            return try await refused(entry, error)
        }
        if entry.operation == .create, records.sentCreate?.number != entry.number {
            let sent = OfflineRecords.SentCreate(
                number: entry.number, id: entry.documentID, revision: entry.revision)
            try remember { $0.sentCreate = sent }
        }
        var words = ""
        for _ in 0..<Self.attempts {
            do {
                let (revision, date) = try await server.put(edit)
                return try await recordStored(entry, edit, revision, date)
            } catch let error as PeerError where error.code == .conflict || error.code == .notFound {
                words = error.serverWords
                let state = try await server.state(of: entry.documentID)
                if entry.new == nil, state.body == nil {
                    return try await alreadyDeleted(entry, state.date)
                }
                if let history = state.history, history.revisions.contains(entry.revision), !isStamped {
                    // The server accepted the operation, but the response was lost, and another client has edited
                    // the document since.
                    return try await recordStored(entry, edit, entry.revision, state.date)
                }
                if let history = state.history, isOwn(state, edit, of: entry) {
                    return try await recordStored(entry, edit, history.revision, state.date)
                }
                guard let again = merged(edit, entry, base, state) else {
                    return .refused(conflict(entry, state, .changed, words))
                }
                edit = again
            } catch let error as PeerError where [.forbidden, .tooLarge, .badRequest].contains(error.code) {
                return try await refused(entry, error)
            }
        }
        return .refused(conflict(entry, try await server.state(of: entry.documentID), .changed, words))
    }

    /// A conflict with the server's state, for an operation that can't be stored as it is.
    private func refused(_ entry: JournalEntry, _ error: PeerError) async throws -> OfflineMachine.Event {
        let state = try await server.state(of: entry.documentID)
        return .refused(conflict(entry, state, .refused(error.message), error.serverWords))
    }

    /// Whether the sent document differs from the local one by the server's time.
    private var isStamped: Bool { options.stampAttribute != nil }

    /// The number of times that an operation is merged again while other clients keep writing.
    private static var attempts: Int { 5 }

    private func conflict(
        _ entry: JournalEntry, _ state: OfflineServer.State, _ reason: OfflineConflict.Reason, _ words: String
    ) -> OfflineConflict {
        OfflineConflict(
            number: entry.number, documentID: entry.documentID, operation: entry.operation, old: entry.old,
            new: entry.new, server: state.body, isDeletedAtServer: state.isDeleted,
            serverHistory: state.body == nil ? nil : state.history, reason: reason, message: words)
    }

    private func withFinalID(_ entry: JournalEntry) async throws -> JournalEntry {
        let temporary = entry.documentID
        guard records.temporaries.contains(temporary.string) else { return entry }
        let id = try await server.newID()
        return try await database.perform { [self] _ in
            try recording {
                try journal.rename(temporary, to: id) { $0.replacing(temporary.string, with: id.string) }
                try remember { $0.temporaries.remove(temporary.string) }
            }
            return try journal.history(of: id).first { $0.number == entry.number } ?? entry
        }
    }

    /// The server's state on which an operation is based: one that the user has seen and decided on, or the newest
    /// ancestor that the server is known to have.
    private func base(of entry: JournalEntry) async throws -> Base {
        let known = try await knownBase(of: entry)
        if let seen = records.seen[entry.documentID], seen.number == entry.number {
            // That state may lack attachments of the known ancestor, so the contents of all are sent.
            return Base(history: seen.history, expected: known.expected)
        }
        return known
    }

    /// The newest ancestor of an operation's revision that the server is known to have.
    private func knownBase(of entry: JournalEntry) async throws -> Base {
        try await database.perform { database in
            guard let tree = try database.tree(of: entry.documentID) else { return Base() }
            let shared = tree.history(of: entry.revision)?.revisions.first { tree[$0]?.isShared == true }
            let known = try shared.flatMap { try database.document(entry.documentID, revision: $0) }
            guard entry.old != nil, let shared, tree[shared]?.isDeleted == false else { return Base() }
            let attachments = known?.attachments ?? []
            return Base(history: tree.history(of: shared), attachments: attachments, expected: attachments)
        }
    }

    /// The edit to send for an operation.
    private func edit(_ entry: JournalEntry, on base: Base, _ time: Date?) async throws -> OfflineServer.Edit {
        try await database.perform { [options] database in
            let id = entry.documentID
            guard let new = entry.new else {
                let tombstone = try database.document(id, revision: entry.revision)
                let kept = tombstone?.isDeleted == true ? try tombstone?.body() : nil
                return OfflineServer.Edit(id: id, base: base.history?.revision, isDeleted: true, body: kept ?? .empty)
            }
            var body = new.body
            if let member = options.stampAttribute, let time {
                var json = body.json
                json[member] = options.stamp(time)
                body = try DocumentBody(json)
            }
            var edit = OfflineServer.Edit(id: id, base: base.history?.revision, body: body)
            let size = new.attachments.reduce(Int64(0)) { $0.adding(clamped: $1.length) }
            guard size <= options.largestAttachments else {
                throw PeerError(
                    .tooLarge, "the attachments of \"\(id)\" have \(size) bytes, too many for a session; replicate it")
            }
            for attachment in new.attachments {
                let isThere = base.attachments.contains {
                    $0.name.utf8.elementsEqual(attachment.name.utf8) && $0.digest == attachment.digest
                }
                edit.attachments.append(
                    isThere
                        ? WireAttachment(
                            attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
                            digest: attachment.digest.description, content: .stub)
                        : WireAttachment(
                            attachment.name, contentType: attachment.contentType,
                            content: .inline(try database.content(of: attachment))))
            }
            return edit
        }
    }

    /// Whether the server's state is the edit of an operation, whose response was lost.
    private func isOwn(_ state: OfflineServer.State, _ edit: OfflineServer.Edit, of entry: JournalEntry) -> Bool {
        guard let body = state.body, let history = state.history else { return false }
        let parent = history.revisions.dropFirst().first
        return parent == edit.base && unstamped(body) == unstamped(edit.body)
            && state.canResult(from: entry.new?.attachments ?? [])
    }

    private func unstamped(_ body: DocumentBody) -> JSONValue {
        var json = body.json
        if let member = options.stampAttribute { json[member] = nil }
        return json
    }

    /// The edit on top of the server's state, if the members that it changes are unchanged there; `nil` for a
    /// conflict.
    private func merged(
        _ edit: OfflineServer.Edit, _ entry: JournalEntry, _ base: Base, _ state: OfflineServer.State
    ) -> OfflineServer.Edit? {
        guard options.acceptance == .unchangedAttributes, let old = entry.old, entry.new != nil,
            var members = state.body?.json.object, let before = old.body.json.object,
            let after = edit.body.json.object
        else { return nil }
        for name in after.names + before.names.filter({ after[$0] == nil }) where before[name] != after[name] {
            // An equal value means the same change, perhaps this operation itself, whose response was lost.
            guard members[name] == before[name] || members[name] == after[name] || name == options.stampAttribute else {
                return nil
            }
            members[name] = after[name]
        }
        guard state.hasAttachments(base.expected), let body = try? DocumentBody(.object(members)) else { return nil }
        var edit = edit
        edit.body = body
        edit.base = state.history?.revision
        return edit
    }

    /// Records the revision that the server created for an operation, and rebases later operations.
    private func recordStored(
        _ entry: JournalEntry, _ edit: OfflineServer.Edit, _ revision: RevisionID, _ date: Date?
    ) async throws -> OfflineMachine.Event {
        let id = entry.documentID
        let isSame = revision == entry.revision
        let known = isSame ? nil : try await server.state(of: id, at: revision).history
        try await database.perform { [self] database in
            try recording {
                if isSame {
                    try database.markShared([(id, revision)])
                } else {
                    let attachments = entry.new?.attachments ?? []
                    let server = ReplicatedRevision(
                        id: id, history: known ?? RevisionHistory(revision), isDeleted: edit.isDeleted,
                        body: edit.body, attachments: attachments)
                    let content =
                        edit.isDeleted ? nil : RevisionContent(body: edit.body, attachments: attachments)
                    _ = try journal.revise(entry.number, of: id, to: content, isKept: false, onto: server)
                }
                let isSent = records.sentCreate?.number == entry.number
                if isSent || records.seen[id] != nil {
                    try remember { records in
                        records.seen[id] = nil
                        if isSent { records.sentCreate = nil }
                    }
                }
            }
        }
        return .accepted(at: options.time(date))
    }

    private func alreadyDeleted(_ entry: JournalEntry, _ date: Date?) async throws -> OfflineMachine.Event {
        try await database.perform { [journal] _ in
            _ = try journal.revise(entry.number, of: entry.documentID, to: nil, isKept: false)
        }
        return .accepted(at: options.time(date))
    }
}

extension JSONValue {
    /// Replaces each string that equals `old`, in arrays and objects too, but not the names of members.
    fileprivate func replacing(_ old: String, with new: String) -> JSONValue {
        switch self {
        case .string(let text) where text.utf8.elementsEqual(old.utf8): .string(new)
        case .array(let elements): .array(elements.map { $0.replacing(old, with: new) })
        case .object(let members):
            .object(JSONObject(members.map { ($0.name, $0.value.replacing(old, with: new)) }))
        default: self
        }
    }
}
