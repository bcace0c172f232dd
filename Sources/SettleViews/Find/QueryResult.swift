/// The result of a query.
public struct QueryResult<Model: Sendable>: Sendable {
    /// The documents, in the requested order, otherwise in that of the index.
    public let rows: [QueryRow<Model>]
    /// A bookmark to continue after the last document; `nil` for an empty result.
    public let bookmark: String?
    /// Warnings, in CouchDB's wording: no index was used, or another one than requested.
    public let warnings: [String]
    /// The costs of the query.
    public let statistics: QueryStatistics

    /// The documents' members as models.
    public var values: [Model] { rows.map(\.value) }
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
