package import SettleCore
internal import SettleDatabase

/// The plan of a query: an index, and the range of it to read.
package struct FindPlan: Sendable {
    /// Where to search for documents.
    enum Search: Sendable {
        /// Nowhere, because no document can match.
        case nowhere
        /// In the list of all documents.
        case documents(DocumentRange)
        /// In a range of rows of an index.
        case rows(RowRange)
        /// In the texts of documents, with the searches of a query's `$text` conditions.
        case texts([String])
    }

    /// The bounds of the search, as CouchDB shows them.
    package struct Bounds: Sendable {
        /// The values to start at; for the list of all documents an id.
        package let start: JSONValue
        /// The values to end at.
        package let end: JSONValue
    }

    /// The placeholder for a value after all others.
    package static let greatest: JSONValue = "<MAX>"

    /// The index.
    package let index: QueryIndex
    /// The bounds; `nil` if the conditions contradict each other, so that there is nothing to search.
    package let bounds: Bounds?
    /// Whether the index is read in descending order.
    package let isDescending: Bool
    /// Whether the index has all members in conditions and in the selection.
    package let isCovering: Bool
    let search: Search
    /// Whether every row in the range matches, so that documents need not be checked.
    let isExact: Bool
    /// Why the other indexes were not chosen.
    let trace: FindTrace
    /// Whether the documents are sorted in memory, for the index does not have their order.
    package let sortsInMemory: Bool
    /// Warnings for the client.
    package internal(set) var warnings: [String]
}
