/// The outcome of a three-way merge.
public struct MergeOutcome: Hashable, Sendable {
    /// The merged object; `nil` if a clash was left undecided.
    ///
    /// If a version has exactly these members, this is the first such version, byte for byte.
    public let merged: JSONObject?
    /// One decision for each changed member; the decision about an object precedes those about its members.
    public let decisions: [MergeDecision]

    /// The paths of the members that were left undecided.
    public var left: [String] { decisions.filter(\.reason.isLeft).map(\.path) }
}
