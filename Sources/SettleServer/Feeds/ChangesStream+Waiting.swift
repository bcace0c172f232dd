internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Waiting for changes, signs of life, and the end.
extension ChangesStream {
    /// Gives a sign of life, ends, or waits.
    func wait(_ state: inout State) throws -> ResponseStep {
        let silence = Self.now - state.lastSign
        if let heartbeat {
            if silence >= heartbeat {
                state.lastSign = Self.now
                return .piece(row.framing.sign)
            }
        } else if silence >= timeout {
            // What was committed and not read by the hub yet must not be missed.
            if !state.hasLookedItself {
                (state.looksItself, state.hasLookedItself) = (true, true)
                return .piece([])
            }
            state.hasEnded = true
            return .piece(tail(state, pending: try pending(state)))
        }
        guard try isWaiting(&state) else { return .piece([]) }
        setTimer(&state, after: (heartbeat ?? timeout) - silence)
        return .wait
    }

    /// Has the hub wake it; false when there is something already.
    private func isWaiting(_ state: inout State) throws -> Bool {
        if state.isWaiting { return true }
        let place = try state.place ?? hub.enter(kind, row)
        state.place = place
        state.isWaiting = hub.wait(place, after: state.position, hasTurn: state.hasTurn) { [weak self] in self?.change()
        }
        return state.isWaiting
    }

    /// There is something to show, or the database is closed.
    private func change() {
        let wake = state.withLock { state in
            (state.isWaiting, state.hasTurn) = (false, true)
            return state.wake
        }
        wake?()
    }

    /// Sees that it is woken after a while; one timer at a time, which may come too early and is set again then. It
    /// outlives the feed, so it is never a long one.
    private func setTimer(_ state: inout State, after nanoseconds: UInt64) {
        guard !state.isTimerSet else { return }
        state.isTimerSet = true
        let delay = DispatchTimeInterval.nanoseconds(Int(min(nanoseconds, Self.longestTimer)))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
            let wake = self?.state.withLock { state in
                state.isTimerSet = false
                return state.wake
            }
            wake?()
        }
    }

    private static let longestTimer: UInt64 = 60_000_000_000
}
