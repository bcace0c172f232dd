/// A member of documents that is searched.
///
///     "title"     "author.name"     "chapters.title"     TextField("title", weight: 5)
///
/// Names are separated by dots, and `\.` is a dot in a name. A path through an array covers all elements. Strings and
/// numbers at the path, or anywhere below it, are searched.
public struct TextField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path.
    public let path: String
    /// The weight of a word in this field; 1 by default.
    public let weight: Double

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - path: The path of its texts.
    ///   - weight: The weight of a word in it, relative to the other fields.
    public init(_ path: String, weight: Double = 1) {
        self.path = path
        self.weight = weight
    }

    /// Makes a field with weight 1.
    public init(stringLiteral path: String) { self.init(path) }
}
