/// A member of documents whose texts are searched.
///
///     "title"     "author.name"     "chapters.title"     TextField("title", weight: 5)
///
/// Names have dots between them, and `\.` is a dot of a name. Where a path leads through an array, it leads to all elements.
/// Texts and numbers that are found there, or anywhere below, are searched.
public struct TextField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path.
    public let path: String
    /// How much a word here counts; 1 unless given.
    public let weight: Double

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - path: Where its texts are.
    ///   - weight: How much a word in it counts, beside those of the other fields.
    public init(_ path: String, weight: Double = 1) {
        self.path = path
        self.weight = weight
    }

    /// Makes a field that counts 1.
    public init(stringLiteral path: String) { self.init(path) }
}
