internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

/// The conflicts of a database and of a document: an extension of ours.
enum ConflictEndpoints {
    /// `GET /{db}/_conflicts`: a page of the documents in conflict, by their ids; with `values=false` no document is read.
    static let list: Endpoint = .work { context in
        let query = context.query
        return try page(context) { name in
            switch name {
            case "startkey", "start_key", "endkey", "end_key": try query.json(name)
            case "limit": try query.json(name)
            default: query[name].map(JSONValue.string)
            }
        }
    }

    /// `POST /{db}/_conflicts`: the conflicts of some documents, or a page as above.
    static let listSome: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        guard let keys = members["keys"] else { return try page(context) { members[$0] } }
        var pages = ConflictPages(database: try context.database())
        try pages.read { members[$0] }
        let differs = try isTrue(members["differs"], "differs")
        let hasValues = try isTrue(members["values"] ?? true, "values")
        let ids = try ConflictPages.ids(keys)
        guard pages.range.from == nil, pages.range.through == nil else {
            throw HTTPError.badRequest("`startkey` and `endkey` can't be given with `keys`.")
        }
        let most = try members["limit"].map { try limit($0) } ?? ids.count
        let rows = try ids.prefix(most).map { id -> JSONValue in
            guard let found = try row(id, pages, differs) else {
                return ["key": .string(id.string), "error": "not_found"]
            }
            return hasValues || found["error"] != nil ? found : ["id": .string(id.string), "key": .string(id.string)]
        }
        return try answer(rows, pages)
    }

    /// `GET /{db}/_conflicts/{docid}`: all details of one.
    static let read: Endpoint = .work { context in
        let query = context.query
        let tree = query["tree"] ?? "folded"
        let form = ConflictTree.Form(rawValue: tree)
        guard form != nil || tree == "none" else { throw HTTPError.queryParse("`tree` is folded, full or none.") }
        let hasPolicies = try isTrue(query["policies"].map(JSONValue.string), "policies")
        let answer = try ConflictAnswer(
            DocumentID(unchecked: context.parameter("id")), in: context.database(), tryingPolicies: hasPolicies)
        let hasDocuments = query["docs"] != "false"
        let tag = EntityTag.of("\(answer.tag)-\(tree)-\(hasDocuments)-\(hasPolicies)")
        if let same = EntityTag.notModified(tag, context.request) { return same }
        return .json(try answer.json(documents: hasDocuments, tree: form), headers: ["ETag": tag])
    }

    private static func page(
        _ context: RequestContext, _ value: (String) throws -> JSONValue?
    ) throws -> HTTPResponse {
        var pages = ConflictPages(database: try context.database())
        try pages.read(value)
        let limit = try limit(value("limit"))
        let differs = try isTrue(value("differs"), "differs")
        guard try isTrue(value("values") ?? true, "values") else {
            return try answer(pages.first(limit).map { ["id": .string($0.string), "key": .string($0.string)] }, pages)
        }
        return try answer(pages.first(limit).compactMap { try row($0, pages, differs) }, pages)
    }

    private static func answer(_ rows: [JSONValue], _ pages: ConflictPages) throws -> HTTPResponse {
        .json([
            "total_rows": .number(JSONNumber(try pages.total())), "offset": .null, "rows": .array(rows),
        ])
    }

    /// The number of documents that one call takes; 100 by default.
    static func limit(_ value: JSONValue?) throws -> Int {
        guard let value else { return 100 }
        guard let limit = value.int ?? value.string.flatMap({ Int($0) }), limit >= 0 else {
            throw HTTPError.queryParse("`limit` must be a number from 0 on.")
        }
        return min(limit, ConflictPages.maximumKeys)
    }

    private static func isTrue(_ value: JSONValue?, _ name: String) throws -> Bool {
        switch value?.string ?? value?.bool.map(\.description) ?? "false" {
        case "true": return true
        case "false": return false
        default: throw HTTPError.queryParse("`\(name)` must be true or false.")
        }
    }

    /// A row of a list; `nil` if the document is in no conflict of the asked kinds. A document that can't be read has its error
    /// in the row.
    private static func row(_ id: DocumentID, _ pages: ConflictPages, _ differs: Bool) throws -> JSONValue? {
        let found: Conflict?
        do {
            found = try pages.database.conflict(of: id)
        } catch let error as DatabaseError where error.code.isOfOneDocument {
            let error = HTTPError(error)
            return [
                "id": .string(id.string), "key": .string(id.string), "error": .string(error.error),
                "reason": .string(error.reason),
            ]
        }
        guard let conflict = found, pages.kinds.contains(conflict.kind) else { return nil }
        var value: JSONValue = [
            "rev": SettlementJSON.revision(conflict.winner.revision),
            "conflicts": .array(conflict.leaves.dropFirst().map { SettlementJSON.revision($0.revision) }),
            "kind": .string(SettlementJSON.kind(conflict.kind)),
            "base": SettlementJSON.revision(conflict.base?.revision),
            "remote": .array(
                conflict.leaves.filter { conflict.side(of: $0) == "remote" }
                    .map { SettlementJSON.revision($0.revision) }),
        ]
        if differs { value["differs"] = .array(clashing(conflict).map(JSONValue.string)) }
        return ["id": .string(id.string), "key": .string(id.string), "value": value]
    }

    /// The members that differ between the live leaves, sorted.
    private static func clashing(_ conflict: Conflict) -> [String] {
        let others = conflict.liveLeaves.dropFirst()
        return Set(others.flatMap { MemberDifference.between(conflict.winner, $0) }.map(\.path))
            .filter { !$0.hasPrefix("/$clocks") }.sorted()
    }
}

// MARK: - ConflictPages

/// The documents in conflict, of one kind or of all, in the order of their ids.
struct ConflictPages {
    let database: Database
    /// The kinds that count.
    var kinds = Set(ConflictKind.allCases)
    var range = DocumentRange()

    /// The number of documents that one request takes at most.
    static let maximumKeys = 1000

    /// The name of a kind in requests.
    static let kinds: [String: Set<ConflictKind>] = [
        "branches": [.branches], "deletions": [.deletion], "all": Set(ConflictKind.allCases),
    ]

    /// Reads `kind`, `startkey` and `endkey` by a function from names to values.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    mutating func read(_ value: (String) throws -> JSONValue?) throws {
        if let kind = try value("kind") {
            guard let kinds = Self.kinds[kind.string ?? ""] else {
                throw HTTPError.queryParse("`kind` is branches, deletions or all.")
            }
            self.kinds = kinds
        }
        func id(_ names: String...) throws -> DocumentID? {
            guard let given = try names.lazy.compactMap(value).first, !given.isNull else { return nil }
            guard let text = given.string else { throw HTTPError.queryParse("`\(names[0])` must be a string.") }
            return DocumentID(unchecked: text)
        }
        range.from = try id("startkey", "start_key")
        range.through = try id("endkey", "end_key")
    }

    /// The first ids.
    func first(_ limit: Int) throws -> [DocumentID] {
        try ConflictSweep(kinds, in: range).first(limit, in: database)
    }

    /// The keys from `startkey` on, each of them once, so that the next call goes on at the key that this one names.
    ///
    /// - Parameter keys: The keys, which are the same in each call.
    /// - Returns: The keys that are left.
    /// - Throws: ``HTTPError`` with status 400 for an `endkey`, or for a `startkey` that is not in the list of keys.
    func rest(of keys: [DocumentID]) throws -> ArraySlice<DocumentID> {
        guard range.through == nil else { throw HTTPError.badRequest("`endkey` can't be given with `keys`.") }
        var seen: Set<DocumentID> = []
        let once = keys.filter { seen.insert($0).inserted }
        guard let start = range.from else { return once[...] }
        guard let place = once.firstIndex(of: start) else {
            throw HTTPError.badRequest("`startkey` must be one of the `keys`.")
        }
        return once[place...]
    }

    /// Whether a document is in a conflict of another kind.
    ///
    /// - Throws: ``DatabaseError``.
    func excludes(_ id: DocumentID) throws -> Bool {
        guard kinds.count < ConflictKind.allCases.count, let conflict = try database.conflict(of: id) else {
            return false
        }
        return !kinds.contains(conflict.kind)
    }

    /// The number of elements in the whole database.
    func total() throws -> Int { try database.conflictCount(kinds) }

    /// The ids of a request's `keys`.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    static func ids(_ keys: JSONValue) throws -> [DocumentID] {
        guard let list = keys.array, list.count <= maximumKeys else {
            throw HTTPError.badRequest("`keys` must be an array of at most \(maximumKeys) ids.")
        }
        return try list.map { key in
            guard let text = key.string else { throw HTTPError.badRequest("`keys` must be strings.") }
            return DocumentID(unchecked: text)
        }
    }
}
