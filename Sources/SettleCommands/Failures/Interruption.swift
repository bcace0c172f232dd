internal import SettlePlatform
internal import Synchronization

/// Whether Ctrl-C was pressed; long operations check it between steps, so that they end where they can be resumed.
enum Interruption {
    private static let wasPressed = Atomic<Bool>(false)

    /// Handles Ctrl-C from now on. Pressed a second time, it ends the process at once.
    ///
    /// The parent process may have left the signal blocked, so it is unblocked.
    static func watch() {
        wasPressed.store(false, ordering: .relaxed)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        // Makes a read that waits for input return.
        Signals.handle(SIGINT) { _ in
            Interruption.wasPressed.store(true, ordering: .relaxed)
            signal(SIGINT, SIG_DFL)
        }
    }

    /// Whether Ctrl-C was pressed since ``watch()``.
    static var isWanted: Bool { wasPressed.load(ordering: .relaxed) }

    /// - Throws: ``CommandError/interrupted`` if Ctrl-C was pressed.
    static func check() throws {
        if isWanted { throw CommandError.interrupted }
    }

    /// Turns writing to a closed pipe into an error; otherwise it would end the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
