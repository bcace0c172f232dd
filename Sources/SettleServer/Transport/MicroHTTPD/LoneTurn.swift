internal import SettleDatabase
internal import SettlePlatform

/// Has a polling thread do a short piece of work itself where hardly anybody has to wait for that.
///
/// To hand a request to a worker and to be told of its answer costs a polling thread two wake-ups and three rounds of
/// `poll`: more than a short edit takes beside its one write to the disk. So it may do the work itself when the
/// connection is the only one it has, or the only one of a few that has asked for anything lately, and no other polling
/// thread is doing the same: the others go on polling, and take the connections that come meanwhile.
///
/// ```
///   threads     A ── connection 1, asking     B ── connections 3, 4, 5, all asking
///                 ── connection 2, silent
///   an edit     made by A itself              handed to workers, which share a commit
/// ```
final class LoneTurn: Sendable {
    private struct Poller {
        var connections = 0
        /// The connection of the last request, and how many there were of it without one of another between.
        var last: ObjectIdentifier?
        var run = 0
    }

    private struct State {
        var pollers: [ThreadID: Poller] = [:]
        var isTaken = false
    }

    private let state = Guarded(State())
    /// With more connections than so many a thread does nothing itself, unless all others are of other threads.
    private static let mostConnections = 4
    /// The number of requests in a row from one connection after which the others count as silent.
    static let leastRun = 8

    /// Says that a polling thread has a connection more.
    func open(on thread: ThreadID) { state.withLock { $0.pollers[thread, default: Poller()].connections += 1 } }

    /// Says that a polling thread has a connection less.
    func close(on thread: ThreadID) { state.withLock { $0.pollers[thread]?.connections -= 1 } }

    /// Says that the running thread, a polling one, reads a request of a connection.
    func begin(_ connection: AnyObject) {
        let (thread, name) = (ThreadID.current, ObjectIdentifier(connection))
        state.withLock { state in
            guard var poller = state.pollers[thread] else { return }
            poller.run = poller.last == name ? poller.run + 1 : 1
            poller.last = name
            state.pollers[thread] = poller
        }
    }

    /// Does a piece of work on the running thread, a polling one, if it may wait for that; else does nothing.
    func take(_ work: () -> Void) {
        let thread = ThreadID.current
        let isMine = state.withLock { state in
            guard !state.isTaken, let poller = state.pollers[thread], poller.connections > 0,
                poller.connections == 1 || poller.connections <= Self.mostConnections && poller.run >= Self.leastRun
            else { return false }
            state.isTaken = true
            return true
        }
        guard isMine else { return }
        work()
        state.withLock { $0.isTaken = false }
    }
}
