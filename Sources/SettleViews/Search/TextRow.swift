package import SettleCore

/// A document that matches a search.
package struct TextRow: Sendable {
    /// The document.
    package let id: DocumentID
    /// Its relevance; higher is better.
    package let score: Double
    /// For each column a snippet with the markers of ``TextReader``; empty if not requested.
    var pieces: [String] = []
}
