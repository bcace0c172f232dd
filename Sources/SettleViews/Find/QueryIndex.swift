public import SettleCore
internal import SettleCrypto
package import SettleDatabase
internal import SettlePlatform
public import SettleQuery

/// An index that selector queries may use.
///
/// Its definition is part of a design document, and so replicates with it. Its content is stored beside the
/// database and updated automatically. An index has a row for each document that has all of its fields and matches
/// its filter, if it has one. A text index contains the words of the fields, and answers `$text` queries.
public struct QueryIndex: Sendable, Hashable {
    /// The id of the design document that defines it; `nil` for the list of all documents by id, which always exists
    /// and is named `_all_docs`.
    public let designDocument: DocumentID?
    /// The name, unique in the design document.
    public let name: String
    /// The members it is ordered by; empty for a text index.
    public let fields: [SortField]
    /// The searched fields of a text index; `nil` for an index of members.
    public let search: TextIndex?
    /// The selector of documents in it; `nil` for all documents that have the fields.
    public let partialFilter: MangoSelector?
    /// The definition as lists show it.
    package let definition: JSONValue
    /// Whether it was declared partitioned.
    package let isPartitioned: Bool
    /// The name of the file with its rows, a hash of everything that they depend on. Indexes with equal rows share
    /// it.
    package let fileName: String

    /// The list of all documents by id.
    package static let allDocuments = QueryIndex(
        designDocument: nil, name: "_all_docs", fields: ["_id"], search: nil, partialFilter: nil,
        definition: ["fields": [["_id": "asc"]]], isPartitioned: false)

    private init(
        designDocument: DocumentID?, name: String, fields: [SortField], search: TextIndex?,
        partialFilter: MangoSelector?,
        definition: JSONValue, isPartitioned: Bool
    ) {
        self.designDocument = designDocument
        self.name = name
        self.fields = fields
        self.search = search
        self.partialFilter = partialFilter
        self.definition = definition
        self.isPartitioned = isPartitioned
        fileName = search?.fileName ?? Self.fileName(fields.map(\.path), partialFilter)
    }

    /// Creates a text index.
    init(_ text: TextDefinition, isPartitioned: Bool) {
        self.init(
            designDocument: text.designDocument, name: text.index.name, fields: [], search: text.index,
            partialFilter: text.index.filter, definition: text.shown, isPartitioned: isPartitioned)
    }

    /// Parses one of a design document's views; `nil` for JSON that is not an index.
    ///
    ///     {"map": {"fields": {"age": "asc"}, "partial_filter_selector": {}}, "reduce": "_count", "options": {"def": …}}
    init?(_ view: JSONValue, name: String, of designDocument: DocumentID, isPartitioned: Bool) {
        guard let map = view["map"]?.object, view["options"]?.object != nil, let fields = map["fields"]?.object else {
            return nil
        }
        var shown: [(String, JSONValue)] = []
        var filter: MangoSelector?
        for member in map {
            switch member.name {
            case "fields":
                shown.append(("fields", .array(fields.map { .object(JSONObject([($0.name, $0.value)])) })))
            case "partial_filter_selector", "selector":
                let isEmpty = member.value.object?.isEmpty == true
                if !isEmpty || member.name == "selector" { shown.append((member.name, member.value)) }
                // The old name is used only if the new one is missing.
                guard !isEmpty, member.name != "selector" || map["partial_filter_selector"] == nil else { continue }
                guard let selector = try? MangoSelector(filter: member.value) else { return nil }
                filter = selector
            default: shown.append((member.name, member.value))
            }
        }
        self.init(
            designDocument: designDocument, name: name,
            fields: fields.map { SortField(path: $0.name, isDescending: $0.value == "desc") }, search: nil,
            partialFilter: filter, definition: .object(JSONObject(shown)), isPartitioned: isPartitioned)
    }

    /// Parses one of a design document's views for queries as a view. `nil` if its rows differ from those of
    /// `_find`: in raw order, with another reduce function than `_count`, or with another filter.
    package init?(counting view: JSONObject.Member, of designDocument: DocumentID) {
        let (map, reduce) = (view.value["map"], view.value["reduce"]?.string)
        guard view.value["options"]?["collation"] != "raw", reduce == nil || reduce == "_count",
            map?["selector"] == nil || map?["partial_filter_selector"] == nil
        else { return nil }
        self.init(view.value, name: view.name, of: designDocument, isPartitioned: false)
    }

    /// Whether it is the list of all documents.
    package var isAllDocuments: Bool { designDocument == nil }

    /// The members by which it is ordered.
    var columns: [String] { fields.map(\.path) }

    /// Whether its rows contain these members of a document; those of the list of all documents contain none.
    package func has(_ paths: [String]) -> Bool {
        let there = (columns + ["_id"]).map { Array($0.utf8) }
        return !isAllDocuments && search == nil && paths.allSatisfy { there.contains(Array($0.utf8)) }
    }

    /// Everything that the rows of an index of members depend on, except for the documents.
    static func identity(_ columns: [String], _ filter: MangoSelector?) -> JSONValue {
        var parts: [JSONValue] = [
            .array(columns.map { .string($0) }), filter?.normal ?? .null, .string(Collation.version),
        ]
        // Files of earlier versions lack these members.
        if NeededMembers.includeUnderscore(columns + (filter?.fields ?? [])) { parts.append("underscore") }
        return .array(parts)
    }

    private static func fileName(_ columns: [String], _ filter: MangoSelector?) -> String {
        let text = identity(columns, filter).utf8
        let hash = SHA256()
        text.withUnsafeBytes { hash.update($0) }
        return QueryIndexes.filePrefix
            + Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// Whether one index precedes another in CouchDB's list.
    package static func isBefore(_ left: QueryIndex, _ right: QueryIndex) -> Bool {
        let documents = (left.designDocument?.string ?? "", right.designDocument?.string ?? "")
        if !documents.0.utf8.elementsEqual(documents.1.utf8) {
            return documents.0.utf8.lexicographicallyPrecedes(documents.1.utf8)
        }
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        return left.search == nil && right.search != nil
    }
}

// MARK: - Rows

extension QueryIndex {
    /// The state of an index.
    package struct Status: Sendable {
        /// The number of rows; for text indexes, of documents.
        package let rows: Int
        /// The size of its file in bytes; indexes of the same members share it.
        package let size: Int
        /// The number of changes of the database that are not in it yet.
        package let pending: Int
    }

    /// The rows of an index of members, with or without those that only the open transaction sees.
    func rows(in database: Database, asStored: Bool = false) throws -> ViewIndex {
        try IndexFolder.of(database).index(fileName, asStored: asStored) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: [CountReducer()])])
        }
    }

    /// The rows of an index of members, as a view whose reduce function is `_count`, and their mapper.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` when the folder can't be created.
    package func files(in database: Database) throws -> (index: ViewIndex, mapper: any ViewMapper) {
        (try rows(in: database), IndexMapper(self))
    }

    /// Updates the index.
    ///
    /// - Parameters:
    ///   - database: The database that defines it. The list of all documents always exists and needs no update.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or what `report` throws.
    package func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
        if isAllDocuments { return }
        if let search { return try search.rows(in: database).update(from: database, report: report) }
        try rows(in: database).update(from: database, by: IndexMapper(self), report: report)
    }

    /// Its size and the number of pending changes; `nil` for the list of all documents. Inside a transaction, the
    /// changes of the transaction are pending.
    ///
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(*n* / 100) for *n* rows, and O(*k*) for *k* pending changes.
    package func status(in database: Database) throws -> Status? {
        if isAllDocuments { return nil }
        let (count, sequence) =
            try search.map {
                try $0.rows(in: database, asStored: true).read { (try $0.count(), try $0.sequence()) }
            } ?? rows(in: database, asStored: true).read { (try $0.count(0), $0.sequence) }
        return Status(
            rows: count, size: IndexFolder.of(database).size(fileName),
            pending: try database.count(changedIn: SequenceRange(after: sequence)))
    }
}

// MARK: - QueryIndexes

/// The indexes that the design documents of a database define, cached until one of them changes.
package final class QueryIndexes: Sendable {
    /// The prefix of the file names of member indexes.
    static let filePrefix = "find-"

    private struct State {
        var age: UInt64?
        var indexes: [QueryIndex] = []
    }

    private let state = Guarded(State())

    private init() {}

    /// The indexes, ordered by their design documents' ids and their names, the list of all documents first.
    ///
    /// - Throws: ``DatabaseError``; ``NotAtHand`` if they have to be read and the source must not wait.
    package static func all(in source: any DocumentSource) throws -> [QueryIndex] {
        // Read before the documents, so that a concurrent write invalidates the cache.
        let age = source.designEpoch
        // A transaction sees its own design documents, which may never be committed.
        let readsUncommitted = (try? source.database)?.readsUncommitted ?? false
        let known = source.known(QueryIndexes.self)?.state.withLock { $0.age == age ? $0.indexes : nil }
        if let known, !readsUncommitted { return known }
        let database = try source.database
        let own = database.companion(QueryIndexes.self) { QueryIndexes() }
        var found = [QueryIndex.allDocuments]
        var range = DocumentRange(
            from: DocumentID(unchecked: "_design/"), before: DocumentID(unchecked: "_design0"))
        while case let page = try database.records(in: range, limit: 100, withContent: true), let last = page.last {
            for record in page where !record.tree.isDeleted {
                guard let content = record.content else { continue }
                found += indexes(of: content.body, record.id)
            }
            range.after = last.id
        }
        found.sort(by: QueryIndex.isBefore)
        if !readsUncommitted { own.state.withLock { ($0.age, $0.indexes) = (age, found) } }
        return found
    }

    /// The indexes that a design document defines; none if it has another language.
    static func indexes(of body: DocumentBody, _ id: DocumentID) -> [QueryIndex] {
        guard body["language"] == "query" else { return [] }
        let isPartitioned = body["options"]?["partitioned"] == true
        let ofMembers = (body["views"]?.object ?? JSONObject()).compactMap {
            QueryIndex($0.value, name: $0.name, of: id, isPartitioned: isPartitioned)
        }
        guard let texts = body["indexes"] else { return ofMembers }
        return ofMembers
            + TextDefinition.all(of: texts, id).map { QueryIndex($0, isPartitioned: isPartitioned) }
    }

    /// The file names of all defined indexes.
    package static func fileNames(of database: Database) throws -> Set<String> {
        Set(try all(in: database).filter { !$0.isAllDocuments }.map(\.fileName))
    }

    /// Removes the files of indexes that are no longer defined; in a transaction, after its commit. An index that the
    /// transaction defines after this call is built anew at its next use.
    package static func removeOthers(of database: Database) throws {
        try database.whileOpen {
            let current = try fileNames(of: database)
            let folder = IndexFolder.of(database)
            try database.afterCommit {
                folder.remove {
                    ($0.hasPrefix(filePrefix) || $0.hasPrefix(TextIndex.filePrefix)) && !current.contains($0)
                }
            }
        }
    }
}
