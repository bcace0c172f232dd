public import SettleCore
public import SettleDatabase
internal import SettleQuery

/// The result of a query, or a page of it.
public struct QueryResult<Model: Decodable & Sendable>: Sendable {
    /// The documents in the requested order, or otherwise in the order of the index.
    public internal(set) var rows: [Saved<Model>] = []
    /// The documents that match the conditions but can't be decoded as the model, in the same order.
    public internal(set) var misfits: [MisfitDocument] = []
    /// A bookmark for ``DocumentQuery/after(_:)``, to continue after the last document that was found or skipped. If
    /// nothing more was found, it is the query's own bookmark; it is `nil` only without either. So continue until a
    /// page has neither ``rows`` nor ``misfits``, not until there is no bookmark.
    public internal(set) var bookmark: String?
    /// Warnings, in CouchDB's wording: that no index was used, or another one than requested; and whether documents
    /// were sorted in memory.
    public internal(set) var warnings: [String] = []
    /// The costs of the query.
    public internal(set) var statistics = QueryStatistics()

    /// The documents' members as models.
    public var values: [Model] { rows.map(\.value) }

    /// The number of documents that were found, including misfits.
    var found: Int { rows.count + misfits.count }

    /// Adds a document, as a row if it fits the model.
    mutating func append(_ found: FoundDocument, in database: Database) {
        do { rows.append(try found.saved(in: database)) } catch {
            misfits.append(MisfitDocument(id: found.id, revision: found.revision, error: error))
        }
    }

    /// Sets the bookmark, the statistics and the warnings from a cursor, as far as it has read.
    mutating func finish(_ cursor: FindCursor) {
        bookmark = cursor.bookmark?.text
        statistics = cursor.statistics
        warnings = cursor.warnings + (statistics.suggestsIndex ? [QueryStatistics.suggestion] : [])
    }
}

/// The rows of the result: `for item in try database.find(query) { print(item.id, item.name) }`.
extension QueryResult: RandomAccessCollection {
    /// The position of the first row.
    public var startIndex: Int { rows.startIndex }
    /// The position after the last row.
    public var endIndex: Int { rows.endIndex }
    /// The row at a position.
    public subscript(position: Int) -> Saved<Model> { rows[position] }
}

extension FoundDocument {
    /// The document as a model.
    fileprivate func saved<Model: Decodable>(in database: Database) throws -> Saved<Model> {
        switch self {
        case .whole(let record):
            let document = database.winner(of: record)
            return try (document.json as? Model).map { Saved(document, $0) } ?? Saved(document)
        case .part(let json, let id):
            let identity = DocumentIdentity(id: id, revision: nil)
            return Saved(partOf: id, try json as? Model ?? json.decode(Model.self, of: identity))
        }
    }
}

/// A document that a query found but that does not fit the model.
///
/// Peers can write anything into a database, and models change. Such a document does not end a query; an app may
/// show it, repair it, or ignore it.
public struct MisfitDocument: Sendable, Identifiable, CustomStringConvertible {
    /// The document's id.
    public let id: DocumentID
    /// The revision that was found; `nil` if only some members were requested.
    public let revision: RevisionID?
    /// The reason why it can't be decoded, usually a `DecodingError` with the path of the member.
    public let error: any Error

    /// The id, the member, and the problem with it.
    public var description: String {
        guard let error = error as? DecodingError else { return "\"\(id)\": \(error)" }
        let context: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        let path = context?.codingPath.map(\.stringValue).joined(separator: ".") ?? ""
        return (context?.debugDescription ?? "\"\(id)\": \(error)") + (path.isEmpty ? "" : " (at \(path))")
    }
}

/// The costs of a query: CouchDB's `execution_stats`.
public struct QueryStatistics: Hashable, Sendable {
    /// The number of examined rows of an index, or ids.
    public package(set) var keysExamined = 0
    /// The number of documents read.
    public package(set) var documentsExamined = 0
    /// The number of documents in the result.
    public package(set) var results = 0

    /// Whether so many documents were read per result that CouchDB suggests another index.
    package var suggestsIndex: Bool { documentsExamined > 10 * max(results, 1) }

    /// CouchDB's message in that case.
    package static let suggestion = """
        The number of documents examined is high in proportion to the number of results returned. Consider adding a more \
        specific index to improve this.
        """
}

// MARK: - FoundDocument

/// A document that a query found.
package enum FoundDocument: Sendable {
    /// The whole document, as stored.
    case whole(DocumentRecord)
    /// The requested members.
    case part(JSONValue, id: DocumentID)

    /// The document's id.
    package var id: DocumentID {
        switch self {
        case .whole(let record): record.id
        case .part(_, let id): id
        }
    }

    /// The revision that was found; `nil` if only some members were read.
    var revision: RevisionID? {
        if case .whole(let record) = self { record.tree.winner?.revision } else { nil }
    }
}

// MARK: - CoveredDocuments

/// Reconstructs documents from the rows of a covering index: the id, and the members in a row's key.
struct CoveredDocuments {
    /// The names that lead to the member of each column; `nil` for the id, which a row has anyway.
    private let paths: [[String]?]

    /// Prepares for an index; `nil` if a path is invalid, or if one member is inside another.
    init?(_ index: QueryIndex) {
        let names = index.columns.map { SelectorPath($0).names ?? [] }
        let isNested = names.indices.contains { left in
            names.indices.contains { right in left != right && names[right].starts(with: names[left]) }
        }
        guard !isNested, !names.contains([]) else { return nil }
        paths = zip(index.columns, names).map { $0 == "_id" ? nil : $1 }
    }

    /// The document of a row.
    func document(id: DocumentID, key: UnsafeBufferPointer<UInt8>) -> JSONValue {
        var members = JSONObject(capacity: paths.count + 1)
        members["_id"] = .string(id.string)
        for (path, value) in zip(paths, (try? JSONValue(utf8: key))?.array ?? []) {
            if let path { members.set(value, at: path[...]) }
        }
        return .object(members)
    }
}

// MARK: - QueryPages

/// The documents of a query in pages.
///
/// ## Buffering
///
/// Pages are read on demand, never ahead. A page is read in steps of at most 1000 examined documents, and each step
/// reads one snapshot of the database.
public struct QueryPages<Model: Decodable & Sendable>: AsyncSequence, Sendable {
    let database: Database
    let query: DocumentQuery<Model>
    let size: Int

    /// Starts at the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// The iterator of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: QueryPages
        private var cursor: FindCursor?
        private var hasEnded = false

        init(pages: QueryPages) { self.pages = pages }

        /// The next page; `nil` at the end, or when the task is cancelled.
        ///
        /// - Throws: As ``Database/find(_:)``.
        public mutating func next() async throws -> QueryResult<Model>? {
            guard !hasEnded, !Task.isCancelled else { return nil }
            let (pages, known) = (pages, cursor)
            let (page, cursor) = try await pages.database.perform { database in
                var cursor = try known ?? FindCursor(pages.query.options(), in: database)
                if known == nil || cursor.followsWrites { try cursor.update() }
                var page = QueryResult<Model>()
                while !cursor.isDone, page.found < pages.size {
                    try cursor.next(lookingAt: 1000) { found in
                        page.append(found, in: database)
                        return page.found < pages.size
                    }
                }
                page.finish(cursor)
                return (page, cursor)
            }
            self.cursor = cursor
            hasEnded = cursor.isDone
            return page.found == 0 ? nil : page
        }
    }
}
