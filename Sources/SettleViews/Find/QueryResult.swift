public import SettleCore
public import SettleDatabase

/// The result of a query, or a page of it.
public struct QueryResult<Model: Decodable & Sendable>: Sendable {
    /// The documents, in the requested order, otherwise in that of the index.
    public internal(set) var rows: [Saved<Model>] = []
    /// The documents that match the conditions and that can't be decoded as the model, in the same order.
    public internal(set) var misfits: [MisfitDocument] = []
    /// A bookmark to continue after the last document; `nil` for an empty result.
    public internal(set) var bookmark: String?
    /// Warnings, in CouchDB's wording: no index was used, or another one than requested; and whether documents were sorted
    /// in memory.
    public internal(set) var warnings: [String] = []
    /// The costs of the query.
    public internal(set) var statistics = QueryStatistics()

    /// The documents' members as models.
    public var values: [Model] { rows.map(\.value) }

    /// How many documents were found, misfits included.
    var found: Int { rows.count + misfits.count }

    /// Adds a document, as a row if it fits the model.
    mutating func append(_ found: FoundDocument, in database: Database) {
        do { rows.append(try found.saved(in: database)) } catch {
            misfits.append(MisfitDocument(id: found.id, revision: found.revision, error: error))
        }
    }

    /// Takes over what a cursor says of the result as far as it has read.
    mutating func finish(_ cursor: FindCursor) {
        bookmark = cursor.bookmark?.text
        statistics = cursor.statistics
        warnings = cursor.plan.warnings + (statistics.suggestsIndex ? [QueryStatistics.suggestion] : [])
    }
}

/// The rows of the result: `for item in try database.find(query) { print(item.id, item.name) }`.
extension QueryResult: RandomAccessCollection {
    /// The place of the first row.
    public var startIndex: Int { rows.startIndex }
    /// The place after the last row.
    public var endIndex: Int { rows.endIndex }
    /// The row at a place.
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

/// A document that a query found and that does not fit the model.
///
/// Peers write what they like into a database, and models change. Such a document does not end a query; an app may show it, mend
/// it, or ignore it.
public struct MisfitDocument: Sendable, Identifiable, CustomStringConvertible {
    /// The document's id.
    public let id: DocumentID
    /// The revision that was found; `nil` if only some members were requested.
    public let revision: RevisionID?
    /// Why it can't be decoded, usually a `DecodingError` with the path of the member.
    public let error: any Error

    /// The id, the member, and what is wrong with it.
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
