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
