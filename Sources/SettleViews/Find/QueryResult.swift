public import SettleCore
internal import SettleDatabase

/// The result of a query, or a page of it.
public struct QueryResult<Model: Decodable & Sendable>: Sendable {
    /// The documents, in the requested order, otherwise in that of the index.
    public internal(set) var rows: [QueryRow<Model>] = []
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
    var count: Int { rows.count + misfits.count }

    /// Adds a document, as a row if it fits the model.
    mutating func append(_ found: FoundDocument) {
        do { rows.append(try QueryRow(found)) } catch {
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
        return "\"\(id)\"\(path.isEmpty ? "" : " at \(path)"): \(context?.debugDescription ?? "\(error)")"
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
