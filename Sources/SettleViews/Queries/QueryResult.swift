/// The answer to a query.
public struct QueryResult<Model: Sendable>: Sendable {
    /// The documents, in the order that was asked for; else in that of the index.
    public let rows: [QueryRow<Model>]
    /// Where a later query goes on, behind the last of them; `nil` when there was none.
    public let bookmark: String?
    /// Warnings, in CouchDB's wording: no index was used, or another one than requested.
    public let warnings: [String]
    /// What it took.
    public let statistics: QueryStatistics

    /// The documents' members as models.
    public var values: [Model] { rows.map(\.value) }
}
