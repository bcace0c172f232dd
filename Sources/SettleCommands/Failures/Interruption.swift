internal import SettlePlatform
internal import Synchronization

/// Whether Ctrl-C was pressed; long jobs ask between two steps, so that they end where they can be gone on with.
enum Interruption {
    private static let wasPressed = Atomic<Bool>(false)

    /// Takes Ctrl-C from now on. Pressed a second time, it ends the process at once.
    ///
    /// Whoever started this process may have left the signal blocked, so it is let through.
    static func watch() {
        wasPressed.store(false, ordering: .relaxed)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        // So that a read that waits for input comes back.
        Signals.handle(SIGINT) { _ in
            Interruption.wasPressed.store(true, ordering: .relaxed)
            signal(SIGINT, SIG_DFL)
        }
    }

    /// Whether Ctrl-C was pressed since ``watch()``.
    static var isWanted: Bool { wasPressed.load(ordering: .relaxed) }

    /// - Throws: ``CommandError/interrupted`` once Ctrl-C was pressed.
    static func check() throws {
        if isWanted { throw CommandError.interrupted }
    }

    /// Lets writing into a pipe that nobody reads be an error, where it would end the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
