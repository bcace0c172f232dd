internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// A request on its way to a worker and back.
public final class ScriptCall: Sendable {
    /// The results, one per item of the request, or an error.
    public typealias Answer = Result<[[UInt8]], ScriptError>

    private struct State {
        var answer: Answer?
        var takers: [@Sendable (Answer) -> Void] = []
    }

    let request: ScriptRequest
    private let state = Guarded(State())

    init(_ request: ScriptRequest) { self.request = request }

    /// Calls a closure with the answer, immediately or when it arrives, on a thread of the pool. The closure must
    /// return quickly.
    public func whenDone(_ taker: @escaping @Sendable (Answer) -> Void) {
        let answer = state.withLock { state in
            if state.answer == nil { state.takers.append(taker) }
            return state.answer
        }
        if let answer { taker(answer) }
    }

    /// Waits for the answer without needing a thread of a shared pool.
    ///
    /// - Throws: ``ScriptError``.
    public func wait() throws -> [[UInt8]] {
        let (done, box) = (DispatchSemaphore(value: 0), Guarded<Answer?>(nil))
        whenDone { answer in
            box.withLock { $0 = answer }
            done.signal()
        }
        done.wait()
        return try box.withLock { $0 ?? .failure(.closed) }.get()
    }

    func fulfil(_ answer: Answer) {
        let takers = state.withLock { state -> [@Sendable (Answer) -> Void] in
            guard state.answer == nil else { return [] }
            state.answer = answer
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers { taker(answer) }
    }
}
