internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Documents as scripts see them.
enum ScriptDocument {
    /// A revision about to be stored.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - history: The path to the revision, or to the parent of an edit; `nil` for a new document.
    ///   - isDeleted: Whether the revision deletes the document.
    ///   - body: The members.
    ///   - attachments: The attachments.
    /// - Returns: Its JSON.
    static func new(
        _ id: DocumentID, history: RevisionHistory?, isDeleted: Bool, _ body: DocumentBody,
        _ attachments: [DocumentAttachment]
    ) -> [UInt8] {
        WireDocument(
            id: id.string, revision: history.map { .revision($0.revision) }, history: history, isDeleted: isDeleted,
            body: body, attachments: attachments.map { $0.wire() }
        ).bytes(.bodyEarly)
    }

    /// The document that a map function gets: the winner, with its conflicts.
    static func mapped(_ record: DocumentRecord, hasSequence: Bool) -> [UInt8] {
        guard let winner = record.tree.winner, let content = record.content else { return Array("{}".utf8) }
        var others: [(String, JSONValue)] = []
        if hasSequence { others.append(("_local_seq", .number(JSONNumber(record.sequence.number)))) }
        if record.tree.leaves.count > 1 {
            for (name, list) in [
                ("_conflicts", record.tree.conflicts), ("_deleted_conflicts", record.tree.deletedConflicts),
            ] where !list.isEmpty {
                others.append((name, .array(list.map { .string($0.description) })))
            }
        }
        let document = WireDocument(
            id: record.id.string, revision: .revision(winner.revision), body: content.body,
            attachments: content.attachments.map { $0.wire() })
        return document.bytes(.bodyEarly, others: others)
    }
}

// MARK: - ScriptRequestObject

/// A request as filters and update functions see it, and the user who sent it.
enum ScriptRequestObject {
    /// The headers that functions see: those that describe the content that is sent or wanted. Any other header may
    /// contain credentials.
    private static let shownHeaders: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-length", "content-md5", "content-type", "date", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "max-forwards", "origin", "pragma",
        "prefer", "range", "slug", "te", "user-agent", "via", "x-couch-full-commit", "x-forwarded-for",
        "x-forwarded-host", "x-forwarded-proto", "x-requested-with",
    ]

    /// The user of a request, as functions of a database see it.
    static func user(_ user: User, of database: String) -> JSONValue {
        [
            "db": .string(database), "name": user.name.map { .string($0) } ?? .null,
            "roles": .array(user.roles.map { .string($0) }),
        ]
    }

    /// A request.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - id: The document it is about.
    ///   - body: Its body.
    /// - Returns: The object that the function gets.
    /// - Throws: ``HTTPError``; ``DatabaseError``.
    static func json(_ context: RequestContext, id: String?, body: [UInt8]) throws -> JSONValue {
        let request = context.request
        let name = context.parameter("db")
        let database = try context.database()
        let path = JSONValue.array(request.target.segments.map { .string($0) })
        let query = request.target.query.items.map { item -> (String, JSONValue) in
            let isKey = ["key", "startkey", "start_key", "endkey", "end_key"].contains(item.name)
            let value = isKey ? try? JSONValue(parsing: item.value) : nil
            return (item.name, value ?? .string(item.value))
        }
        let headers = request.headers.fields.filter { shownHeaders.contains($0.name.lowercased()) }
        let questionMark = request.target.query.items.isEmpty ? "" : "?"
        let rawQuery = request.target.query.items.map {
            PercentCoding.encode($0.name, keeping: .couchDB) + "=" + PercentCoding.encode($0.value, keeping: .couchDB)
        }
        return [
            "info": try DatabaseInfoJSON.json(of: database, name, context.compactions),
            "uuid": .string(SecureRandom.hexadecimal()), "id": id.map { .string($0) } ?? .null,
            "method": .string(request.method),
            "requested_path": path, "path": path,
            "raw_path": .string(request.target.rawPath + questionMark + rawQuery.joined(separator: "&")),
            "query": .object(JSONObject(query)),
            "headers": .object(JSONObject(headers.map { ($0.name, .string($0.value)) })),
            "body": body.isEmpty ? "undefined" : .string(String(decoding: body, as: UTF8.self)),
            "peer": .string(request.peer), "form": form(request, body), "cookie": .object(JSONObject()),
            "userCtx": user(context.user, of: name), "secObj": try context.databases.security(of: name).json,
        ]
    }

    private static func form(_ request: ServerRequest, _ body: [UInt8]) -> JSONValue {
        guard request.headers.bare("Content-Type") == "application/x-www-form-urlencoded" else {
            return .object(JSONObject())
        }
        let text = String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
        return .object(JSONObject(RequestTarget("/?" + text).query.items.map { ($0.name, .string($0.value)) }))
    }
}
