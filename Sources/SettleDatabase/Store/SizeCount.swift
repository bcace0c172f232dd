internal import SettleCore

/// The last count of a database's contents, and the sequence it was made at.
struct SizeCount: Sendable {
    var payload: StoragePayload
    var sequence: UpdateSequence
    /// For how many changes it is valid.
    var tolerance: Int64
}
