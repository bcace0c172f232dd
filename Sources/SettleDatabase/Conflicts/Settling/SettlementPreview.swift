/// What a policy would decide of a conflict, and what that would write; nothing is written.
public struct SettlementPreview: Sendable {
    /// The conflict.
    public let conflict: Conflict
    /// What the policy decided; `nil` where racing answers are made one without asking it.
    public let decision: PolicyDecision?
    /// The revisions that would be written.
    public let plan: SettlementPlan
}
