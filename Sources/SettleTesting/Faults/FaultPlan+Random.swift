extension FaultPlan {
    /// The share of each kind among the faults of a random plan; kinds that are not listed don't occur.
    public static let usualWeights: [Fault.Kind: Int] = [
        .cutRequest: 3, .cutAnswer: 3, .cutBody: 2, .delay: 2, .drip: 2, .silence: 1, .answer: 4, .refuse: 1,
        .wrongLength: 2, .duplicate: 2, .loseAnswer: 3, .closeAfter: 2,
    ]

    /// The statuses that the proxy itself answers in a random plan.
    public static let usualStatuses = [400, 401, 403, 404, 408, 409, 412, 413, 429, 500, 502, 503, 504]

    /// Random faults, reproducible from the seed on every machine.
    ///
    /// - Parameters:
    ///   - seed: The seed that reproduces the plan.
    ///   - rate: The share of requests with a fault, from 0 to 1.
    ///   - weights: The share of each kind; ``Fault/Kind/flipBit`` occurs only if it is listed here.
    ///   - longestPause: The longest delay, silence and outage; a drip lasts about as long.
    ///   - statuses: The statuses that the proxy itself answers.
    /// - Returns: The plan.
    public static func random(
        seed: UInt64, rate: Double, weights: [Fault.Kind: Int] = usualWeights,
        longestPause: Duration = .milliseconds(50), statuses: [Int] = usualStatuses
    ) -> FaultPlan {
        // An array in a fixed order, because the order of a dictionary changes from run to run.
        let kinds = Fault.Kind.allCases.flatMap { [Fault.Kind](repeating: $0, count: max(0, weights[$0] ?? 0)) }
        let limits = (pause: longestPause, statuses: statuses)
        return FaultPlan("random(seed: \(seed), rate: \(rate))", seed: seed) { _, random in
            let chance = Double(random.next() >> 11) / Double(1 << 53)
            guard chance < rate, let kind = random.pick(kinds) else { return .none }
            return fault(kind, limits.pause, limits.statuses, &random)
        }
    }

    private static func fault(
        _ kind: Fault.Kind, _ longest: Duration, _ statuses: [Int], _ random: inout SeededRandom
    ) -> Fault {
        switch kind {
        case .none: .none
        case .cutRequest: .cut(.request, after: count(&random), by: ending(&random))
        case .cutAnswer: .cut(.answer, after: count(&random), by: ending(&random))
        case .cutBody: .cut(.body, after: count(&random), by: ending(&random))
        case .delay: .delay(pause(longest, &random))
        case .drip: drip(longest, &random)
        case .silence: .silence(pause(longest, &random))
        case .answer: answer(statuses, &random)
        case .refuse: .refuse(pause(longest, &random))
        case .wrongLength: .wrongLength(by: (random.oneIn(2) ? 1 : -1) * (1 + random.below(100)))
        case .duplicate: .duplicate
        case .loseAnswer: .loseAnswer(by: ending(&random))
        case .flipBit: .flipBit(at: random.below(10_000))
        case .closeAfter: .closeAfter(by: ending(&random))
        }
    }

    /// A number of bytes: usually inside the head or shortly after it, sometimes far inside a body.
    private static func count(_ random: inout SeededRandom) -> Int {
        switch random.below(8) {
        case 0: 0
        case 1...5: random.below(400)
        default: random.below(100_000)
        }
    }

    private static func ending(_ random: inout SeededRandom) -> Fault.Ending { random.oneIn(2) ? .reset : .close }

    private static func pause(_ longest: Duration, _ random: inout SeededRandom) -> Duration {
        longest * (1 + random.below(100)) / 100
    }

    private static func drip(_ longest: Duration, _ random: inout SeededRandom) -> Fault {
        let count = 1 + random.below(30)
        return .drip(first: count, pause: pause(longest, &random) / count)
    }

    private static func answer(_ statuses: [Int], _ random: inout SeededRandom) -> Fault {
        guard let status = random.pick(statuses) else { return .none }
        let retryAfter = random.oneIn(3) ? random.below(2) : nil
        return .answer(status: status, retryAfter: retryAfter, body: random.oneIn(2) ? .html : .couchDB)
    }
}
