internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Ends the process when a function runs for too long, whatever it does.
///
/// A thread looks at the clock a few times within each limit. It ends the process rather than the function, for there is
/// work inside the engine, such as matching a pattern, that can't be interrupted.
final class ScriptWatchdog: Sendable {
    /// When the running function was begun, in milliseconds; 0 while none runs.
    private let start = Atomic<Int64>(0)
    private let limit: Int64

    /// Begins to watch.
    ///
    /// - Parameter milliseconds: How long a function may run.
    init(milliseconds: Int) {
        limit = Int64(milliseconds)
        let watchdog = Unmanaged.passRetained(self)
        #if canImport(Glibc)
        var thread: pthread_t = 0
        #else
        var thread: pthread_t?
        #endif
        let code = pthread_create(
            &thread, nil,
            { context in
                #if canImport(Glibc)
                if let context { Unmanaged<ScriptWatchdog>.fromOpaque(context).takeUnretainedValue().watch() }
                #else
                Unmanaged<ScriptWatchdog>.fromOpaque(context).takeUnretainedValue().watch()
                #endif
                return nil
            }, watchdog.toOpaque())
        // Unwatched scripts must not run.
        if code != 0 { _exit(ScriptExit.misuse) }
    }

    /// A function begins.
    func begin() { start.store(Self.now, ordering: .relaxed) }

    /// It has ended.
    func end() { start.store(0, ordering: .relaxed) }

    private func watch() {
        let pause = useconds_t(min(max(limit * 1000 / 20, 5_000), 200_000))
        while true {
            usleep(pause)
            let begun = start.load(ordering: .relaxed)
            if begun != 0, Self.now - begun > limit { _exit(ScriptExit.timeout) }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
