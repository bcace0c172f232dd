/// What a policy decided of a conflict, and why.
public struct PolicyDecision: Sendable {
    /// What is to become of the conflict.
    public var resolution: Resolution
    /// Why, in words for people.
    public var reason: String
    /// Member by member what was decided and why, where the policy merges.
    public var members: [MemberDecision]
    /// Whether the policy answered differently when it was asked a second time.
    public internal(set) var isImpure = false

    /// Makes a decision.
    public init(_ resolution: Resolution, reason: String = "", members: [MemberDecision] = []) {
        self.resolution = resolution
        self.reason = reason
        self.members = members
    }
}
