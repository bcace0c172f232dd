/// Which request meets which ``Fault``: a value, so that a seed brings a failure back.
///
///     let plan = FaultPlan.script([.loseAnswer(by: .reset)]).only(on: "_bulk_docs")
///         .otherwise(.random(seed: 7, rate: 0.1))
///
/// A plan decides by the number of a request, its method, its path, and random numbers that belong to the seed and that
/// number alone. The same requests in the same order get the same faults, however long each of them takes.
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
    /// Decides on the requests that all its filters take.
    struct Part: Sendable {
        var text: String
        let seed: UInt64
        var filters: [@Sendable (FaultRequest) -> Bool] = []
        var choose: @Sendable (FaultRequest, inout SeededRandom) -> Fault

        func takes(_ request: FaultRequest) -> Bool { filters.allSatisfy { $0(request) } }

        func fault(for request: FaultRequest) -> Fault {
            var random = SeededRandom(seed: seed &+ UInt64(request.number) &* 0xD1B5_4A32_D192_ED03)
            return choose(request, &random)
        }
    }

    /// The first that takes a request decides.
    private(set) var parts: [Part]

    /// Makes a plan of a function, which must depend on nothing but what it gets.
    ///
    /// - Parameters:
    ///   - description: How the plan is named in reports.
    ///   - seed: What the random numbers belong to.
    ///   - choose: Says what happens to a request.
    public init(
        _ description: String, seed: UInt64 = 0,
        _ choose: @escaping @Sendable (_ request: FaultRequest, _ random: inout SeededRandom) -> Fault
    ) {
        parts = [Part(text: description, seed: seed, choose: choose)]
    }

    /// Everything passes.
    public static let none = FaultPlan("none") { _, _ in .none }

    /// The same fault each time.
    public static func always(_ fault: Fault) -> FaultPlan { FaultPlan("always(\(fault))") { _, _ in fault } }

    /// These faults, one a request, and then none.
    public static func script(_ faults: [Fault]) -> FaultPlan {
        FaultPlan("script(\(faults))") { request, _ in
            faults.indices.contains(request.number) ? faults[request.number] : .none
        }
    }

    /// The plan for requests with a part of the path, as `_bulk_docs`; others pass and are not counted.
    public func only(on part: String) -> FaultPlan { filtered("only(on: \"\(part)\")") { $0.has(part) } }

    /// The plan for requests with a method; others pass and are not counted.
    public func only(method: String) -> FaultPlan { filtered("only(method: \"\(method)\")") { $0.method == method } }

    /// The plan for so many requests it is for; the later ones pass.
    public func first(_ count: Int) -> FaultPlan {
        changed("first(\(count))") { part in
            let choose = part.choose
            part.choose = { request, random in request.number < count ? choose(request, &random) : .none }
        }
    }

    /// A plan for the requests that this one is not for.
    public func otherwise(_ other: FaultPlan) -> FaultPlan {
        var plan = self
        plan.parts += other.parts
        return plan
    }

    /// What the plan does to a series of requests; their own numbers don't matter.
    ///
    /// - Complexity: O(*n*) in the requests.
    public func faults(for requests: [(method: String, path: String)]) -> [Fault] {
        var course = FaultCourse(self)
        return requests.map { course.next(method: $0.method, path: $0.path) }
    }

    /// The plan as it would be written, for reports.
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
