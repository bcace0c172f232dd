/// The parameters of schedules; those that are not given are drawn from each schedule's seed.
public struct SimulationOptions: Sendable {
    /// The number of replicas, from 2 to 8; drawn by default.
    public var replicas: Int?
    /// The number of steps in a schedule.
    public var steps: ClosedRange<Int> = 6...36
    /// The policies replicas may have. Most schedules have one of them everywhere, others one drawn for each replica.
    public var policies: [SimulatedPolicy] = SimulatedPolicy.all
    /// The storage of the replicas' databases; in files a crash is a real reopening.
    public var kind: DatabaseKind = .memory
    /// Whether some schedules stem old revisions: by small revision limits, and by partial histories.
    public var stems = true
    /// Whether some schedules compact databases.
    public var compacts = true
    /// Whether replicas stamp users' changes with their time. Then their wall clocks are up to a day apart and are
    /// set forward and back, and some edits are made by software without clocks.
    public var fieldClocks = false

    /// Makes options that draw everything from the seed.
    public init() {}
}
