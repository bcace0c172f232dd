internal import SettleCore

/// What was last counted of a database's contents, and where it was then.
struct SizeCount: Sendable {
    var payload: StoragePayload
    var sequence: UpdateSequence
    /// How many changes it is good for.
    var tolerance: Int64
}
