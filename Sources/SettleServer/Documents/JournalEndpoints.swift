package import SettleCore
package import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// The journal of a database: what was changed here and no peer has yet. An extension of ours.
enum JournalEndpoints {
    /// `GET /{db}/_journal`: the operations, the newest last, and what is pending of each document, as `settle log --json`.
    static let read: Endpoint = .work { context in
        let journal = try journal(context)
        let limit = try count(context.query["limit"], "limit") ?? 100
        let after = try count(context.query["after"], "after").map(Int64.init)
        let id = context.query["id"].map { DocumentID(unchecked: $0) }
        let history: [JournalEntry]
        switch (id, after) {
        case (let id?, let after?):
            history = Array(try journal.history(of: id).filter { $0.number > after }.prefix(limit))
        case (let id?, nil): history = try journal.history(of: id).suffix(limit)
        case (nil, let after?): history = try journal.history(after: after, limit: limit)
        case (nil, nil): history = try journal.newest(limit)
        }
        let pending = try id.map { try journal.pending(of: $0).map { [$0] } ?? [] } ?? journal.pending(limit: limit)
        return .json([
            "count": .number(JSONNumber(journal.count)), "history": .array(history.map(JournalJSON.entry)),
            "pending": .array(pending.map(JournalJSON.change)),
        ])
    }

    /// `PUT /{db}/_journal`: `true` keeps a journal from now on, `false` stops that and deletes it.
    static let set: Endpoint = .work { context in
        try context.requireContentType()
        guard let isOn = try context.json().bool else { throw HTTPError.badRequest("The body must be true or false.") }
        try context.database().setJournal(isOn)
        return .ok()
    }

    /// `POST /{db}/_journal/_undo`: undoes all operations on a document (`id`) or the newest ones (`count`), as `settle undo`.
    static let undo: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(among: ["id", "count"])
        let journal = try journal(context)
        guard try ValidationScripts(context).isEmpty else {
            throw HTTPError.notImplemented("undoing is not offered in databases with validation functions")
        }
        let undone: [JournalEntry]
        switch (members["id"]?.string, members["count"]?.int) {
        case (let id?, nil):
            try WriteGuard(context).check(DocumentID(unchecked: id))
            undone = try journal.undo(DocumentID(unchecked: id))
        case (nil, let count?) where count > 0: undone = try journal.undo(count)
        default: throw HTTPError.badRequest("Say which document by `id`, or how many operations by `count`.")
        }
        context.metrics.wroteDocuments(undone.count)
        return .json(["ok": true, "undone": .array(undone.map(JournalJSON.entry))])
    }

    private static func journal(_ context: RequestContext) throws -> Journal {
        guard let journal = try context.database().journal else {
            throw HTTPError(
                412, "precondition_failed", "The database keeps no journal; `PUT` with `true` makes it keep one.")
        }
        return journal
    }

    private static func count(_ text: String?, _ name: String) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw HTTPError.queryParse("`\(name)` must be a number from 0 on.")
        }
        return min(number, 1_000_000)
    }
}

// MARK: - JournalJSON

/// Journal entries and pending changes as JSON.
package enum JournalJSON {
    /// An operation with the content before and after, and the names of attachments if there are any.
    package static func entry(_ entry: JournalEntry) -> JSONValue {
        var line: JSONValue = [
            "number": .number(JSONNumber(entry.number)), "operation": .string(entry.operation.rawValue),
            "id": .string(entry.documentID.string), "old": entry.old?.body.json ?? .null,
            "new": entry.new?.body.json ?? .null, "rev": .string(entry.revision.description),
            "timestamp": .number(JSONNumber(entry.time.milliseconds)),
        ]
        let (old, new) = (names(entry.old), names(entry.new))
        if !old.isEmpty || !new.isEmpty { line["attachments"] = ["old": .array(old), "new": .array(new)] }
        return line
    }

    private static func names(_ content: RevisionContent?) -> [JSONValue] {
        (content?.attachments ?? []).map { .string($0.name) }
    }

    /// The pending changes of a document, attribute by attribute.
    package static func change(_ change: PendingChange) -> JSONValue {
        let changes = change.attributes.map { attribute -> JSONValue in
            var line: JSONValue = ["attribute": .string(attribute.name)]
            if let value = attribute.value { line["value"] = value } else { line["removed"] = true }
            line["timestamp"] = .number(JSONNumber(attribute.time.milliseconds))
            return line
        }
        return [
            "operation": .string(change.operation.rawValue), "id": .string(change.documentID.string),
            "changes": .array(changes), "rev": .string(change.revision.description),
        ]
    }
}
