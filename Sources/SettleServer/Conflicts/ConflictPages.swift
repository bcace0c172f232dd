internal import SettleCore
internal import SettleDatabase

/// The documents in conflict, of one kind or of all, in the order of their ids.
struct ConflictPages {
    let database: Database
    /// The kinds that count.
    var kinds = ConflictKind.allCases
    var range = DocumentRange()

    /// How many documents one request takes at most.
    static let mostKeys = 1000

    /// The name of a kind in requests.
    static let kinds: [String: [ConflictKind]] = [
        "branches": [.branches], "deletions": [.deletion], "all": ConflictKind.allCases,
    ]

    /// Reads `kind`, `startkey` and `endkey` by a function from names to values.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    mutating func take(_ value: (String) throws -> JSONValue?) throws {
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

    /// The first ids, each with its kind.
    func first(_ limit: Int) throws -> [(id: DocumentID, kind: ConflictKind)] {
        let lists = try kinds.map { kind in
            try database.conflictedDocumentIDs(kind, in: range, limit: limit).map { (id: $0, kind: kind) }
        }
        return Array(lists.joined().sorted { $0.id < $1.id }.prefix(limit))
    }

    /// How many there are in the whole database.
    func total() throws -> Int { try database.conflictCount(Set(kinds)) }

    /// The ids of a request's `keys`.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    static func ids(_ keys: JSONValue) throws -> [DocumentID] {
        guard let list = keys.array, list.count <= mostKeys else {
            throw HTTPError.badRequest("`keys` must be an array of at most \(mostKeys) ids.")
        }
        return try list.map { key in
            guard let text = key.string else { throw HTTPError.badRequest("`keys` must be strings.") }
            return DocumentID(unchecked: text)
        }
    }
}
