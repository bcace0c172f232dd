/// One member that several versions changed to different values.
public struct MergeClash: Hashable, Sendable {
    /// The member's JSON Pointer, as decisions show it.
    public let path: String
    /// The value all versions started from, `nil` if there was no such member.
    public let base: JSON?
    /// Each version's value, `nil` where there is no such member.
    public let versions: [JSON?]
    /// The positions of the versions that changed the member, in order.
    public let changed: [Int]
}
