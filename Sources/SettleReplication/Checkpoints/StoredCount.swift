internal import RevisionTree

/// A count in a local document. Every user who may write to the database can set it to any value.
enum StoredCount {
    /// More than anything is ever counted to, and far from where a sum overflows.
    private static let most = 1 << 52

    /// The count, from 0 to 2⁵²; 0 for a value that is no such number.
    static func of(_ json: JSON?) -> Int { min(max(json?.int ?? 0, 0), most) }
}
