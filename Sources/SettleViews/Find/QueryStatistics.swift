/// What it took to answer a query: CouchDB's `execution_stats`.
public struct QueryStatistics: Hashable, Sendable {
    /// How many rows of an index, or ids, were looked at.
    public package(set) var keysExamined = 0
    /// How many documents were read.
    public package(set) var documentsExamined = 0
    /// How many documents the answer has.
    public package(set) var results = 0

    /// Whether so many documents were read for each one found that CouchDB suggests another index.
    package var suggestsIndex: Bool { documentsExamined > 10 * max(results, 1) }

    /// What CouchDB says then.
    package static let suggestion = """
        The number of documents examined is high in proportion to the number of results returned. Consider adding a more \
        specific index to improve this.
        """
}
