internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Waiting for changes, heartbeats, and the end.
extension ChangesStream {
    /// Sends a heartbeat, ends, or waits.
    func wait(_ state: inout State) throws -> ResponseStep {
        let silence = Self.now - state.lastSign
        if let heartbeat {
            if silence >= heartbeat {
                state.lastSign = Self.now
                return .piece(row.framing.sign)
            }
        } else if silence >= timeout {
            // Changes that are committed and not yet read by the hub must not be missed.
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

    /// Registers with the hub for a wake-up; false if there are changes already.
    private func isWaiting(_ state: inout State) throws -> Bool {
        if state.isWaiting { return true }
        let place = try state.place ?? hub.enter(kind, row)
        state.place = place
        state.isWaiting = hub.wait(place, after: state.position, hasTurn: state.hasTurn) { [weak self] in self?.change()
        }
        return state.isWaiting
    }

    /// Called when there are changes, or the database was closed.
    private func change() {
        let wake = state.withLock { state in
            (state.isWaiting, state.hasTurn) = (false, true)
            return state.wake
        }
        wake?()
    }

    /// Schedules a wake-up; one timer at a time, which may fire early and is then set again. It outlives the feed, so its
    /// delay is short.
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
