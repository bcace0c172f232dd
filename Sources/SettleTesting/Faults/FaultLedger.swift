internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// A proxy's plan, a bounded number of records, and counts by kind.
final class FaultLedger: Sendable {
    private struct State {
        var course: FaultCourse
        var records: [FaultRecord] = []
        var requests = 0
        var counts: [Fault.Kind: Int] = [:]
    }

    private let state: Guarded<State>
    private let limit: Int

    init(_ plan: FaultPlan, limit: Int) {
        state = Guarded(State(course: FaultCourse(plan)))
        self.limit = max(1, limit)
    }

    /// Switches to another plan with the next request.
    func follow(_ plan: FaultPlan) { state.withLock { $0.course = FaultCourse(plan) } }

    var plan: FaultPlan { state.withLock { $0.course.plan } }
    var records: [FaultRecord] { state.withLock { $0.records } }

    /// The number of requests by fault; requests whose fault did not apply count as without a fault.
    var statistic: [Fault.Kind: Int] {
        state.withLock { state in
            var counts = state.counts
            let others = state.requests - counts.values.reduce(0, +)
            if others > 0 { counts[.none] = others }
            return counts
        }
    }

    /// Records a request, and returns its fault; none if there is no method.
    func begin(method: String, path: String, connection: Int) -> (number: Int, fault: Fault) {
        state.withLock { state in
            let fault = method.isEmpty ? .none : state.course.next(method: method, path: path)
            let number = state.requests
            state.requests += 1
            let shown = String(decoding: path.utf8.prefix(200), as: UTF8.self)
            state.records.append(
                FaultRecord(number: number, connection: connection, method: method, path: shown, fault: fault))
            if state.records.count > limit { state.records.removeFirst(state.records.count - limit) }
            return (number, fault)
        }
    }

    /// Records that a fault takes effect, before it is visible; once per request.
    func markDone(_ number: Int, _ kind: Fault.Kind) {
        state.withLock { $0.counts[kind, default: 0] += 1 }
        change(number) { $0.isDone = true }
    }

    /// Records the status of an answer.
    func set(status: Int, of number: Int) { change(number) { $0.status = status } }

    /// Records the end of a request, before a connection ends because of it.
    func finish(_ number: Int, requestBytes: Int, answerBytes: Int) {
        change(number) { record in
            (record.requestBytes, record.answerBytes, record.isFinished) = (requestBytes, answerBytes, true)
        }
    }

    /// Changes a record if it is still kept; the list has no gaps.
    private func change(_ number: Int, _ body: (inout FaultRecord) -> Void) {
        state.withLock { state in
            guard let first = state.records.first?.number, number >= first else { return }
            body(&state.records[number - first])
        }
    }
}
