internal import SettleCore

/// A count in a local document. Every user who may write to the database can set it to any value.
enum StoredCount {
    /// More than any real count, and small enough that sums don't overflow.
    private static let most = 1 << 52

    /// The count, from 0 to 2⁵²; 0 for a value that is not a number.
    static func of(_ json: JSONValue?) -> Int { min(max(json?.int ?? 0, 0), most) }
}
