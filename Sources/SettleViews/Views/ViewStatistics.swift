/// The result of CouchDB's `_stats`.
public struct ViewStatistics: Codable, Hashable, Sendable {
    /// The sum.
    public let sum: Double
    /// The number of values.
    public let count: Int
    /// The minimum.
    public let min: Double
    /// The maximum.
    public let max: Double
    /// The sum of squares.
    public let sumsqr: Double
}
