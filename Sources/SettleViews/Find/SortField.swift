/// A member that results are sorted by, or that an index has, with its direction.
///
///     ["year", .descending("price")]
///
/// A string literal is ascending. Paths are as in a selector: `address.city` is a member of a member.
public struct SortField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The direction of an order.
    public enum Direction: Sendable {
        /// From the least value to the greatest.
        case ascending
        /// From the greatest value to the least.
        case descending
    }

    /// The member's path.
    public let path: String
    /// Whether the order is descending.
    public let isDescending: Bool

    /// Makes an ascending field.
    public static func ascending(_ path: String) -> SortField { SortField(path: path, isDescending: false) }

    /// Makes a descending field.
    public static func descending(_ path: String) -> SortField { SortField(path: path, isDescending: true) }

    init(path: String, isDescending: Bool) {
        self.path = path
        self.isDescending = isDescending
    }

    /// The member's path without the type suffix that CouchDB requires for sorting a text search: `title:string`.
    var untypedPath: String {
        for type in [":string", ":number"] where path.hasSuffix(type) { return String(path.dropLast(type.count)) }
        return path
    }

    /// Makes an ascending field from a path.
    public init(stringLiteral path: String) { self.init(path: path, isDescending: false) }
}
