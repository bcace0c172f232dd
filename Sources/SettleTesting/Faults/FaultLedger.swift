internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// The plan that a proxy follows, and what it did: bounded records, and counts by kind.
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

    /// Follows another plan from the next request on.
    func follow(_ plan: FaultPlan) { state.withLock { $0.course = FaultCourse(plan) } }

    var plan: FaultPlan { state.withLock { $0.course.plan } }
    var records: [FaultRecord] { state.withLock { $0.records } }

    /// How many requests met which fault, those that did not fit among the ones with none.
    var statistic: [Fault.Kind: Int] {
        state.withLock { state in
            var counts = state.counts
            let others = state.requests - counts.values.reduce(0, +)
            if others > 0 { counts[.none] = others }
            return counts
        }
    }

    /// Notes a request, and says what is to happen to it; without a method nothing is.
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

    /// Notes that a fault is being done, before anybody can notice it; once a request.
    func markDone(_ number: Int, _ kind: Fault.Kind) {
        state.withLock { $0.counts[kind, default: 0] += 1 }
        change(number) { $0.isDone = true }
    }

    /// Notes the status of an answer.
    func set(status: Int, of number: Int) { change(number) { $0.status = status } }

    /// Notes the end of a request, before a connection ends for it.
    func finish(_ number: Int, requestBytes: Int, answerBytes: Int) {
        change(number) { record in
            (record.requestBytes, record.answerBytes, record.isFinished) = (requestBytes, answerBytes, true)
        }
    }

    /// Changes a record that is still kept; the list has no gaps.
    private func change(_ number: Int, _ body: (inout FaultRecord) -> Void) {
        state.withLock { state in
            guard let first = state.records.first?.number, number >= first else { return }
            body(&state.records[number - first])
        }
    }
}
