package import RevisionTree
internal import SettleDatabase

/// How a query is answered: by which index, and which part of it.
package struct FindPlan: Sendable {
    /// Where documents are looked for.
    enum Search: Sendable {
        /// Nowhere: no document can match.
        case nowhere
        /// In the list of all documents.
        case documents(DocumentRange)
        /// In the rows of an index.
        case rows(RowRange)
        /// In the texts of documents, by what a query's `$text`s look for.
        case texts([String])
    }

    /// The bounds of the search as CouchDB has them.
    package struct Bounds: Sendable {
        /// The values to begin at; of the list of all documents the id.
        package let start: JSON
        /// The values to end at.
        package let end: JSON
    }

    /// What stands for a value behind all others.
    package static let greatest: JSON = "<MAX>"

    /// The index.
    package let index: QueryIndex
    /// The bounds; `nil` where the conditions contradict each other, so that nothing is looked for.
    package let bounds: Bounds?
    /// Whether the greatest come first.
    package let isDescending: Bool
    /// Whether all that is asked for and shown is in the index.
    package let isCovering: Bool
    let search: Search
    /// Whether all that is found matches, so that it need not be asked of each document.
    let isExact: Bool
    /// Why not the other indexes.
    let trace: FindTrace
    /// What a client should know.
    package let warnings: [String]
}
