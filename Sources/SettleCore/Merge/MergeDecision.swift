/// The decision about one changed member, and its reason.
public struct MergeDecision: Hashable, Sendable {
    /// The member's JSON Pointer; an element of an array merged by identity is named by its identity, where a JSON
    /// Pointer proper would have its position.
    public let path: String
    /// The value all versions started from, `nil` if there was no such member.
    public let base: JSON?
    /// Each version's value, `nil` where there is no such member.
    public let versions: [JSON?]
    /// The merged value; `nil` if the member was removed, or if it or a member inside it was left undecided.
    public internal(set) var result: JSON?
    /// The reason.
    public let reason: MergeReason
}
