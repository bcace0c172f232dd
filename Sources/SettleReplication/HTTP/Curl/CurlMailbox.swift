internal import CCurl
internal import SettleDatabase
internal import SettlePlatform

/// What other threads want of the thread that curl runs on.
final class CurlMailbox: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        case cancel(CurlTransfer)
        /// A reader has made room, or a producer has made a piece.
        case resume(CurlTransfer)
        case close
    }

    private struct State {
        var commands: [Command] = []
        /// The handle to wake, as long as there is one.
        var multi: UnsafeMutableRawPointer?
        var isSleeping = false
    }

    private let state = Guarded(State())

    /// Says which handle is to be woken.
    func open(_ multi: UnsafeMutableRawPointer) { state.withLock { $0.multi = multi } }

    /// Leaves a command; returns false when nobody will come for it.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard let multi = state.multi else { return false }
            state.commands.append(command)
            // Behind the lock the handle can't go, and whoever is awake looks again before it sleeps.
            if state.isSleeping { curl_multi_wakeup(multi) }
            state.isSleeping = false
            return true
        }
    }

    /// Takes all commands.
    func take() -> [Command] {
        state.withLock { state in
            defer { state.commands.removeAll() }
            state.isSleeping = false
            return state.commands
        }
    }

    /// Says that the thread is about to sleep; returns false when it has to look for commands first.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.commands.isEmpty
            return state.isSleeping
        }
    }

    /// Says that the handle goes; returns the commands that nobody will obey any more.
    func retire() -> [Command] {
        state.withLock { state in
            state.multi = nil
            defer { state.commands.removeAll() }
            return state.commands
        }
    }
}
