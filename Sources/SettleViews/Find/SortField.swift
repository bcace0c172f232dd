/// A member by which results are sorted, or that an index has, and in which direction.
///
///     ["year", .descending("price")]
///
/// A literal text is an ascending one. Paths are a selector's: `address.city` is a member of a member.
public struct SortField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The member's path.
    public let path: String
    /// Whether the greatest comes first.
    public let isDescending: Bool

    /// The least first.
    public static func ascending(_ path: String) -> SortField { SortField(path: path, isDescending: false) }

    /// The greatest first.
    public static func descending(_ path: String) -> SortField { SortField(path: path, isDescending: true) }

    init(path: String, isDescending: Bool) {
        self.path = path
        self.isDescending = isDescending
    }

    /// The member's path without the type that CouchDB wants of what a search for words is sorted by: `title:string`.
    var untypedPath: String {
        for type in [":string", ":number"] where path.hasSuffix(type) { return String(path.dropLast(type.count)) }
        return path
    }

    /// Makes an ascending one of a path.
    public init(stringLiteral path: String) { self.init(path: path, isDescending: false) }
}
