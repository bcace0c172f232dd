/// Wakes those that wait for a change, without telling what has changed.
///
///     waiter    seen = position ─ looks, finds nothing ─ wait(after: seen) ········· looks again
///     changer                             makes a change ──────────────── ring ────────┘
///
/// A waiter reads the position before it checks for a change. So a ring between the check and the wait is not lost:
/// the wait ends at once. A ring only means that something may have changed. Nothing is queued, so a slow waiter
/// costs nothing, and misses only the number of rings.
///
/// The position counts the rings. If changes have their own order, such as the sequences of a database, the bell
/// can be rung with their positions instead.
package final class Bell: Sendable {
    private typealias Waiter = @Sendable (_ isRung: Bool) -> Void

    private struct State {
        var position: Int64 = 0
        var hasEnded = false
        var lastNumber = 0
        var waiters: [Int: Waiter] = [:]
        /// Waiters that are woken only by the end.
        var endWaiters: [Int: Waiter] = [:]

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Guarded(State())

    /// Creates a bell at position 0.
    package init() {}

    /// The position of the last ring.
    package var position: Int64 { state.withLock(\.position) }

    /// The number of those that wait for a ring.
    package var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Whether it has ended.
    package var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Wakes all waiters.
    ///
    /// - Parameter position: The new position; if it is not greater than the current one, the position stays. By
    ///   default the next number.
    package func ring(at position: Int64? = nil) {
        let woken = state.withLock { state -> [Int: Waiter] in
            state.position = max(state.position, position ?? state.position + 1)
            guard !state.waiters.isEmpty else { return [:] }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in woken.values { waiter(true) }
    }

    /// Wakes all waiters for the last time. Later waits end at once.
    package func end() {
        let woken = state.withLock { state in
            state.hasEnded = true
            defer { (state.waiters, state.endWaiters) = ([:], [:]) }
            return Array(state.waiters.values) + Array(state.endWaiters.values)
        }
        for waiter in woken { waiter(false) }
    }

    /// Calls a closure once: immediately if the bell has rung beyond a position, otherwise at the next ring, on the
    /// ringing thread. The closure must return soon. It gets false if the bell has ended or the call was cancelled.
    ///
    /// - Returns: The number for ``cancel(_:)``.
    @discardableResult
    package func whenRung(after seen: Int64, _ waiter: @escaping @Sendable (_ isRung: Bool) -> Void) -> Int {
        let (number, isRung) = state.withLock { state -> (Int, Bool?) in
            let number = state.nextNumber()
            if state.hasEnded { return (number, false) }
            if state.position > seen { return (number, true) }
            state.waiters[number] = waiter
            return (number, nil)
        }
        if let isRung { waiter(isRung) }
        return number
    }

    /// Calls the closure of ``whenRung(after:_:)`` with false; returns whether it was still waiting.
    @discardableResult
    package func cancel(_ number: Int) -> Bool {
        let waiter = state.withLock { state in
            state.waiters.removeValue(forKey: number) ?? state.endWaiters.removeValue(forKey: number)
        }
        waiter?(false)
        return waiter != nil
    }
}

// MARK: - Waiting

extension Bell {
    /// Waits, without blocking a thread, until the bell has rung beyond a position.
    ///
    /// - Parameters:
    ///   - seen: The position.
    ///   - deadline: The time at which to stop waiting; never by default.
    /// - Returns: Whether the bell has rung; false if it has ended, the deadline has passed, or the task is
    ///   cancelled.
    @discardableResult
    package func wait(after seen: Int64, until deadline: ContinuousClock.Instant? = nil) async -> Bool {
        if Task.isCancelled { return false }
        let rung = Promise<Bool>()
        let number = whenRung(after: seen) { rung.fulfil($0) }
        let timer = deadline.map { deadline in
            Task {
                try? await Task.sleep(until: deadline, clock: .continuous)
                rung.fulfil(false)
            }
        }
        defer {
            timer?.cancel()
            cancel(number)
        }
        return await rung.get(ifCancelled: false)
    }

    /// Waits, without blocking a thread, until the bell ends or the task is cancelled.
    package func waitForEnd() async {
        let ended = Promise<Bool>()
        let number = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            let number = state.nextNumber()
            state.endWaiters[number] = { ended.fulfil($0) }
            return number
        }
        guard let number else { return }
        defer { cancel(number) }
        _ = await ended.get(ifCancelled: false)
    }
}
