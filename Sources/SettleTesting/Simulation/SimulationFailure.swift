/// A schedule that broke a rule.
public struct SimulationFailure: Sendable, CustomStringConvertible {
    /// The seed that replays it, given the same options.
    public let seed: UInt64
    /// The rule it broke.
    public let rule: SimulationRule
    /// What was observed.
    public let message: String
    /// The policies of the replicas.
    public let policies: [String]
    /// The steps that are necessary to break the rule.
    public let steps: [SimulationStep]
    /// What happens in these steps, one line each.
    public let story: [String]

    /// The whole failure as readable text.
    public var description: String {
        """
        seed \(seed) breaks the rule \(rule.rawValue): \(message)
        replicas: \(policies.enumerated().map { "\($0.offset) \($0.element)" }.joined(separator: ", "))
        \(story.joined(separator: "\n"))
        """
    }
}
