/// What a three-way merge came to.
public struct MergeOutcome: Hashable, Sendable {
    /// The merged object; `nil` if a clash was left undecided.
    ///
    /// If one of the versions has just these members, this is the first such version, byte for byte.
    public let merged: JSONObject?
    /// One decision for each member that somebody changed; an object that was merged inside comes before its members.
    public let decisions: [MergeDecision]

    /// The paths of the members that were left undecided.
    public var left: [String] { decisions.filter(\.reason.isLeft).map(\.path) }
}
