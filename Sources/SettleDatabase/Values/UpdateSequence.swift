/// A position in a database's order of changes: every write of a document gets the next one, from 1.
///
/// Sequences belong to one database; another copy of the same documents has others (SEMANTICS 204).
public struct UpdateSequence: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The position as a number.
    public let number: Int64

    /// Creates a sequence from a number.
    public init(_ number: Int64) { self.number = number }

    /// Creates a sequence from a literal.
    public init(integerLiteral value: Int64) { number = value }

    /// Orders by position.
    public static func < (left: UpdateSequence, right: UpdateSequence) -> Bool { left.number < right.number }

    /// The position as text.
    public var description: String { String(number) }
}
