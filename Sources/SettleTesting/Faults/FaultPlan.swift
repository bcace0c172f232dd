/// Assigns a ``Fault`` to each request: a value, so that a seed reproduces a failure.
///
///     let plan = FaultPlan.script([.loseAnswer(by: .reset)]).only(on: "_bulk_docs")
///         .otherwise(.random(seed: 7, rate: 0.1))
///
/// A plan decides by the number of a request, its method, its path, and random numbers derived from the seed and that
/// number alone. The same requests in the same order get the same faults, regardless of their duration.
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

        func takes(_ request: FaultRequest) -> Bool { filters.allSatisfy { $0(request) } }

        func fault(for request: FaultRequest) -> Fault {
            var random = SeededRandom(seed: seed &+ UInt64(request.number) &* 0xD1B5_4A32_D192_ED03)
            return choose(request, &random)
        }
    }

    /// The first part that accepts a request decides.
    private(set) var parts: [Part]

    /// Makes a plan from a function, which must depend on its arguments alone.
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

    /// Applies the plan only to requests with a path component such as `_bulk_docs`; others are forwarded and not
    /// counted.
    public func only(on part: String) -> FaultPlan { filtered("only(on: \"\(part)\")") { $0.has(part) } }

    /// Applies the plan only to requests with a method; others are forwarded and not counted.
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
