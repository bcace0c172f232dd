internal import SettlePlatform
internal import Synchronization

/// Ends the process when a function runs for too long, or takes too much memory, whatever it does.
///
/// A thread looks at the clock, and at the memory in use, some times a second. It ends the process rather than the function, for there is
/// work inside the engine, such as matching a pattern, that can't be interrupted.
final class ScriptWatchdog: Sendable {
    /// When the running function was begun, in milliseconds; 0 while none runs.
    private let start = Atomic<Int64>(0)
    private let limit: Int64
    /// How much memory may be in use, in bytes.
    private let mostMemory = Atomic<Int>(.max)
    private let memory = MemoryInUse()

    /// Begins to watch.
    ///
    /// - Parameter milliseconds: How long a function may run.
    init(milliseconds: Int) {
        limit = Int64(milliseconds)
        // Unwatched scripts must not run.
        do { try SystemThread.detach { self.watch() } } catch { _exit(ScriptExit.misuse) }
    }

    /// Allows so much more memory than is in use now; false when that can't be watched.
    func limitMemory(to bytes: Int) -> Bool {
        guard let used = memory.bytes else { return false }
        mostMemory.store(used + bytes, ordering: .relaxed)
        return true
    }

    /// A function begins.
    func begin() { start.store(Self.now, ordering: .relaxed) }

    /// It has ended.
    func end() { start.store(0, ordering: .relaxed) }

    private func watch() {
        while true {
            usleep(20_000)
            let begun = start.load(ordering: .relaxed)
            guard begun != 0 else { continue }
            if Self.now - begun > limit { _exit(ScriptExit.timeout) }
            if let used = memory.bytes, used > mostMemory.load(ordering: .relaxed) { _exit(ScriptExit.memory) }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
