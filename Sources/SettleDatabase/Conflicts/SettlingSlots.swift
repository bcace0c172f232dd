internal import SettlePlatform

/// Limits how many documents are settled at once; the others wait for a free slot.
package final class SettlingSlots: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Guarded<State>

    /// Creates slots; at least one.
    package init(_ count: Int) { state = Guarded(State(free: max(1, count))) }

    /// Runs a closure while it has a slot.
    package func using<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        await take()
        defer { giveBack() }
        return try await body()
    }

    /// Takes a slot, waiting for one if needed.
    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Releases a slot to the longest waiter.
    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
