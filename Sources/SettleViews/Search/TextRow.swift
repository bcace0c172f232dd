package import RevisionTree

/// A document that a search has found.
package struct TextRow: Sendable {
    /// The document.
    package let id: DocumentID
    /// How well it fits; the more the better.
    package let score: Double
    /// For each column a piece of its text with the marks of ``TextReader``; none where it was not asked for.
    var pieces: [String] = []
}
