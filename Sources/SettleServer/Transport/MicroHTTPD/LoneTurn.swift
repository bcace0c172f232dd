internal import SettleDatabase

/// Has a polling thread do a short piece of work itself where nobody has to wait for that.
///
/// To hand a request to a worker and to be told of its answer costs a polling thread two wake-ups and three rounds of
/// `poll`: more than a short edit takes beside its one write to the disk. So it may do the work itself when the
/// connection is the only one it has, and no other polling thread is doing the same: the others go on polling, and take
/// the connections that come meanwhile.
///
/// ```
///   threads     A ── connection 1           B ── connections 2, 3, 4
///   an edit     made by A itself            handed to workers, which share a commit
/// ```
final class LoneTurn: Sendable {
    private struct State {
        var connections: [ThreadID: Int] = [:]
        var isTaken = false
    }

    private let state = Guarded(State())

    /// Says that a polling thread has a connection more.
    func open(on thread: ThreadID) { state.withLock { $0.connections[thread, default: 0] += 1 } }

    /// Says that a polling thread has a connection less.
    func close(on thread: ThreadID) { state.withLock { $0.connections[thread, default: 1] -= 1 } }

    /// Does a piece of work on the running thread, a polling one, if it may wait for that; else does nothing.
    func take(_ work: () -> Void) {
        let thread = ThreadID.current
        let isMine = state.withLock { state in
            guard !state.isTaken, state.connections[thread] == 1 else { return false }
            state.isTaken = true
            return true
        }
        guard isMine else { return }
        work()
        state.withLock { $0.isTaken = false }
    }
}
