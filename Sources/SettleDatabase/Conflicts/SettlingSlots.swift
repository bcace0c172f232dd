internal import SettlePlatform

/// Limits the number of documents that are settled at once; all others wait for a free slot.
package final class SettlingSlots: Sendable {
    private struct State {
        var free: Int
        var waiting = Queue<Promise<Void>>()
    }

    private let state: Guarded<State>

    /// Creates slots; at least one.
    package init(_ count: Int) { state = Guarded(State(free: max(1, count))) }

    /// Runs a closure while it has a slot.
    package func using<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        await acquire()
        defer { giveBack() }
        return try await body()
    }

    /// Takes a slot, waiting for one if needed.
    func acquire() async {
        let slot = state.withLock { state -> Promise<Void>? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let slot = Promise<Void>()
            state.waiting.append(slot)
            return slot
        }
        await slot?.get()
    }

    /// Releases a slot to the longest waiter.
    func giveBack() {
        let next = state.withLock { state -> Promise<Void>? in
            if let next = state.waiting.popFirst() { return next }
            state.free += 1
            return nil
        }
        next?.fulfil(())
    }
}
