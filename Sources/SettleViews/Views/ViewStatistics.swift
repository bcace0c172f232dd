/// What CouchDB's `_stats` tells of numbers.
public struct ViewStatistics: Codable, Hashable, Sendable {
    /// The sum.
    public let sum: Double
    /// How many there are.
    public let count: Int
    /// The least.
    public let min: Double
    /// The greatest.
    public let max: Double
    /// The sum of squares.
    public let sumsqr: Double
}
