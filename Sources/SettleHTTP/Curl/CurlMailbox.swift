#if canImport(CCurl)
internal import CCurl
internal import SettlePlatform

/// Commands from other threads to the thread that runs curl.
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
        /// The handle to wake, while the thread is running.
        var multi: Lent<UnsafeMutableRawPointer>?
        var isSleeping = false
    }

    private let state = Guarded(State())

    /// Sets the handle to wake.
    func open(_ multi: UnsafeMutableRawPointer) {
        let multi = Lent(multi)
        state.withLock { $0.multi = multi }
    }

    /// Posts a command; returns false if the thread has ended.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            guard let multi = state.multi else { return false }
            state.commands.append(command)
            // The lock keeps the handle alive. A thread that is awake checks for commands before it sleeps.
            if state.isSleeping { curl_multi_wakeup(multi.value) }
            state.isSleeping = false
            return true
        }
    }

    /// Removes and returns all commands.
    func dequeueAll() -> [Command] {
        state.withLock { state in
            defer { state.commands.removeAll() }
            state.isSleeping = false
            return state.commands
        }
    }

    /// Announces that the thread is about to sleep; returns false if commands are waiting.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isSleeping = state.commands.isEmpty
            return state.isSleeping
        }
    }

    /// Closes the mailbox; returns the commands that were not executed.
    func retire() -> [Command] {
        state.withLock { state in
            state.multi = nil
            defer { state.commands.removeAll() }
            return state.commands
        }
    }
}
#endif
