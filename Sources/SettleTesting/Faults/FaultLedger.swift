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

    /// Records a request, and returns its fault; ``Fault/none`` if there is no method.
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
            guard part.matches(request) else { continue }
            counts[index] += 1
            return part.fault(for: request)
        }
        return .none
    }
}

/// A request through a ``FaultProxy``, with its fault.
public struct FaultRecord: Sendable, Hashable, CustomStringConvertible {
    /// The number of earlier requests through the proxy.
    public let number: Int
    /// The connection on which it came, counted from 0.
    public let connection: Int
    /// The request's method, or an empty string for bytes that are not a request and are forwarded unchanged.
    public let method: String
    /// The request's path with the query, no longer than 200 bytes.
    public let path: String
    /// The fault that the plan chose.
    public let fault: Fault
    /// Whether the fault took effect; `false` for ``Fault/none``.
    public internal(set) var isDone = false
    /// The status of the answer from the server or the proxy; `nil` before the answer.
    public internal(set) var status: Int?
    /// The number of request bytes that the server got, including both copies of a duplicated request.
    public internal(set) var requestBytes = 0
    /// The number of answer bytes that the client got.
    public internal(set) var answerBytes = 0
    /// Whether the request and its answer are complete; until then, the byte counts are 0.
    public internal(set) var isFinished = false

    /// The record as one line.
    public var description: String {
        let target = method.isEmpty ? "bytes that are not a request" : "\(method) \(path)"
        let deed = isDone || fault == .none ? "\(fault)" : "\(fault) did not fit"
        let outcome = isFinished ? "\(requestBytes) bytes there, \(answerBytes) back" : "under way"
        return "#\(number) on \(connection): \(target) \(deed): \(status.map(String.init) ?? "no answer"), \(outcome)"
    }
}
