/// What a simulation draws its schedules from; what is not given is drawn from each schedule's seed.
public struct SimulationOptions: Sendable {
    /// How many replicas there are, from 2 to 8; drawn unless given.
    public var replicas: Int?
    /// How many steps a schedule has.
    public var steps: ClosedRange<Int> = 6...36
    /// The policies replicas may have. Most schedules have one of them everywhere, others one drawn for each replica.
    public var policies: [SimulatedPolicy] = SimulatedPolicy.all
    /// Where the replicas keep their databases; in files a crash is a real reopening.
    public var kind: DatabaseKind = .memory
    /// Whether some schedules forget old revisions: by small revision limits, and by histories sent in part.
    public var stems = true
    /// Whether some schedules compact databases.
    public var compacts = true
    /// Whether replicas stamp what their users change with the moment. Their wall clocks are up to a day apart and are put
    /// forward and back then, and some edits are made by software that knows no clocks.
    public var attributeClocks = false

    /// Makes options that leave all to the seed.
    public init() {}
}
