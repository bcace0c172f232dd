internal import SettlePlatform

/// Counts the requests that a listener is answering. Once it is closed, no further request gets in.
///
///     open ── enter, leave, enter … ── close() ──→ closed ── leave … leave ──→ empty, and stays so
///
/// The listener relies on the last step: a request that did not get in never suspends its connection, so a closed and
/// empty gate means that no connection is suspended, now or later.
final class RequestGate: Sendable {
    private struct State {
        var isClosed = false
        var isLeaving = false
        var inside = 0
    }

    private let state = Monitor(State())

    /// Whether the gate has been closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether answers have to close their connections: the gate is closed, or will be once they are gone.
    var isLeaving: Bool { state.withLock { $0.isClosed || $0.isLeaving } }

    /// Makes further answers close their connections.
    func leaveSoon() { state.withLock { $0.isLeaving = true } }

    /// Lets a request in. The caller has to call ``leave()`` when the request is over.
    ///
    /// - Returns: False if the gate is closed; then the request is not counted.
    func enter() -> Bool {
        state.withLock { state in
            if !state.isClosed { state.inside += 1 }
            return !state.isClosed
        }
    }

    /// Ends a request that was let in.
    func leave() { state.update { $0.inside -= 1 } }

    /// Closes the gate for good.
    func close() { state.update { $0.isClosed = true } }

    /// Waits until all requests have left.
    ///
    /// - Returns: Whether they have, within that time.
    func waitUntilEmpty(seconds: Double) -> Bool {
        state.wait(seconds: seconds) { $0.inside == 0 ? true : nil } ?? false
    }
}
