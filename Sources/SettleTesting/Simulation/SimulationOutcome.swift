/// The outcome of one schedule.
public struct SimulationOutcome: Sendable {
    /// The number of final rounds of exchanging everything and settling until no replica wrote any more.
    public internal(set) var rounds = 0
    /// The number of steps.
    public internal(set) var steps = 0
    /// The number of acknowledged revisions, including those written by settling.
    public internal(set) var revisions = 0
    /// The number of revisions written by settling.
    public internal(set) var settling = 0
    /// The number of conflicts left, because no replica promised to settle them, or none had the bases.
    public internal(set) var left = 0
    /// The first broken rule, if any.
    public internal(set) var failure: SimulationFailure?

    /// Makes an empty outcome.
    public init() {}

    /// Adds the outcome of another schedule: sums the counts, and keeps the most rounds and the first failure.
    public mutating func add(_ other: SimulationOutcome) {
        rounds = max(rounds, other.rounds)
        steps += other.steps
        revisions += other.revisions
        settling += other.settling
        left += other.left
        failure = failure ?? other.failure
    }
}
