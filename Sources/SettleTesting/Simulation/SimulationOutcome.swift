/// What became of one schedule.
public struct SimulationOutcome: Sendable {
    /// How many rounds of exchanging everything and settling it took at the end until nobody wrote any more.
    public internal(set) var rounds = 0
    /// How many steps there were.
    public internal(set) var steps = 0
    /// How many revisions were acknowledged, those that settling wrote included.
    public internal(set) var revisions = 0
    /// How many of them settling wrote.
    public internal(set) var settling = 0
    /// How many conflicts were left, because no replica promised to settle them, or none had the bases.
    public internal(set) var left = 0
    /// The rule that was broken, if one was.
    public internal(set) var failure: SimulationFailure?

    /// Makes the outcome of no schedule.
    public init() {}

    /// Adds the outcome of another schedule: counts are added up, of rounds the most is kept, and the first failure.
    public mutating func add(_ other: SimulationOutcome) {
        rounds = max(rounds, other.rounds)
        steps += other.steps
        revisions += other.revisions
        settling += other.settling
        left += other.left
        failure = failure ?? other.failure
    }
}
