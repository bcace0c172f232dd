/// The state of a running plan: it counts the requests of each part of the plan.
struct FaultCourse: Sendable {
    let plan: FaultPlan
    private var counts: [Int]

    init(_ plan: FaultPlan) {
        self.plan = plan
        counts = [Int](repeating: 0, count: plan.parts.count)
    }

    /// The fault for the next request.
    mutating func next(method: String, path: String) -> Fault {
        for (index, part) in plan.parts.enumerated() {
            let request = FaultRequest(number: counts[index], method: method, path: path)
            guard part.takes(request) else { continue }
            counts[index] += 1
            return part.fault(for: request)
        }
        return .none
    }
}
