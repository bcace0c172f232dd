/// A policy's decision about a conflict, and the revisions it would write; nothing is written.
public struct SettlementPreview: Sendable {
    /// The conflict.
    public let conflict: Conflict
    /// The policy's decision; `nil` if racing answers are settled without calling it.
    public let decision: PolicyDecision?
    /// The revisions that would be written.
    public let plan: SettlementPlan
}
