/// Assigns a ``Fault`` to each request. It is a value, so that a seed reproduces a failure.
///
///     let plan = FaultPlan.script([.loseAnswer(by: .reset)]).only(on: "_bulk_docs")
///         .otherwise(.random(seed: 7, rate: 0.1))
///
/// A plan decides by the number of a request, its method, its path, and random numbers that are derived only from
/// the seed and that number. The same requests in the same order get the same faults, regardless of their duration.
///
/// ## Topics
/// ### Plans
/// - ``none``
/// - ``always(_:)``
/// - ``script(_:)``
/// - ``random(seed:rate:weights:longestPause:statuses:)``
/// - ``init(_:seed:_:)``
/// ### Where and how often
/// - ``only(on:)``
/// - ``only(method:)``
/// - ``first(_:)``
/// - ``otherwise(_:)``
public struct FaultPlan: Sendable, CustomStringConvertible {
    /// Decides about the requests that pass all its filters.
    struct Part: Sendable {
        var text: String
        let seed: UInt64
        var filters: [@Sendable (FaultRequest) -> Bool] = []
        var choose: @Sendable (FaultRequest, inout SeededRandom) -> Fault

        func matches(_ request: FaultRequest) -> Bool { filters.allSatisfy { $0(request) } }

        func fault(for request: FaultRequest) -> Fault {
            var random = SeededRandom(seed: seed &+ UInt64(request.number) &* 0xD1B5_4A32_D192_ED03)
            return choose(request, &random)
        }
    }

    /// The first part that accepts a request decides.
    private(set) var parts: [Part]

    /// Creates a plan from a function, which must depend only on its arguments.
    ///
    /// - Parameters:
    ///   - description: The name of the plan in reports.
    ///   - seed: The seed of the random numbers.
    ///   - choose: Returns the fault of a request.
    public init(
        _ description: String, seed: UInt64 = 0,
        _ choose: @escaping @Sendable (_ request: FaultRequest, _ random: inout SeededRandom) -> Fault
    ) {
        parts = [Part(text: description, seed: seed, choose: choose)]
    }

    /// No faults.
    public static let none = FaultPlan("none") { _, _ in .none }

    /// The same fault for each request.
    public static func always(_ fault: Fault) -> FaultPlan { FaultPlan("always(\(fault))") { _, _ in fault } }

    /// These faults, one per request, and then none.
    public static func script(_ faults: [Fault]) -> FaultPlan {
        FaultPlan("script(\(faults))") { request, _ in
            faults.indices.contains(request.number) ? faults[request.number] : .none
        }
    }

    /// Applies the plan only to requests with a path component such as `_bulk_docs`; other requests are forwarded
    /// and not counted.
    public func only(on part: String) -> FaultPlan { filtered("only(on: \"\(part)\")") { $0.has(part) } }

    /// Applies the plan only to requests with a method; other requests are forwarded and not counted.
    public func only(method: String) -> FaultPlan { filtered("only(method: \"\(method)\")") { $0.method == method } }

    /// Applies the plan to the first requests that it accepts; later ones are forwarded.
    public func first(_ count: Int) -> FaultPlan {
        changed("first(\(count))") { part in
            let choose = part.choose
            part.choose = { request, random in request.number < count ? choose(request, &random) : .none }
        }
    }

    /// Applies another plan to the requests that this one does not accept.
    public func otherwise(_ other: FaultPlan) -> FaultPlan {
        var plan = self
        plan.parts += other.parts
        return plan
    }

    /// The plan's faults for a series of requests, numbered by their position.
    ///
    /// - Complexity: O(*n*) in the requests.
    public func faults(for requests: [(method: String, path: String)]) -> [Fault] {
        var course = FaultCourse(self)
        return requests.map { course.next(method: $0.method, path: $0.path) }
    }

    /// The plan as Swift code, for reports.
    public var description: String { parts.map { ".\($0.text)" }.joined(separator: " otherwise ") }

    private func filtered(_ text: String, _ filter: @escaping @Sendable (FaultRequest) -> Bool) -> FaultPlan {
        changed(text) { $0.filters.append(filter) }
    }

    private func changed(_ text: String, _ change: (inout Part) -> Void) -> FaultPlan {
        var plan = self
        for index in plan.parts.indices {
            change(&plan.parts[index])
            plan.parts[index].text += ".\(text)"
        }
        return plan
    }
}

/// A request as the input of a ``FaultPlan``.
public struct FaultRequest: Hashable, Sendable {
    /// The number of earlier requests that the plan accepted.
    public let number: Int
    /// Its method, such as `PUT`.
    public let method: String
    /// Its path with the query, as it was sent.
    public let path: String

    /// Makes a request.
    public init(number: Int, method: String, path: String) {
        self.number = number
        self.method = method
        self.path = path
    }

    /// Whether the path, without the query, has this component.
    ///
    /// - Complexity: O(*n*) in the length of the path.
    public func has(_ part: String) -> Bool {
        path.prefix { $0 != "?" }.split(separator: "/").contains { $0 == part }
    }
}

// MARK: - Random

extension FaultPlan {
    /// The share of each kind among the faults of a random plan. Unlisted kinds don't occur.
    public static let usualWeights: [Fault.Kind: Int] = [
        .cutRequest: 3, .cutAnswer: 3, .cutBody: 2, .delay: 2, .drip: 2, .silence: 1, .answer: 4, .refuse: 1,
        .wrongLength: 2, .duplicate: 2, .loseAnswer: 3, .closeAfter: 2,
    ]

    /// The statuses of the proxy's own answers in a random plan.
    public static let usualStatuses = [400, 401, 403, 404, 408, 409, 412, 413, 429, 500, 502, 503, 504]

    /// Random faults, reproducible from the seed on every machine.
    ///
    /// - Parameters:
    ///   - seed: The seed that reproduces the plan.
    ///   - rate: The share of requests with a fault, from 0 to 1.
    ///   - weights: The share of each kind; ``Fault/Kind/flipBit`` occurs only if it is listed here.
    ///   - longestPause: The longest delay, silence and outage; a drip lasts about as long.
    ///   - statuses: The statuses of the proxy's own answers.
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
