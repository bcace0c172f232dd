internal import SettlePlatform
internal import Synchronization

/// Ends the process when a function exceeds its time or memory limit, and lowers the priority of the process when a function is slow,
/// so that the quick functions of other processes go first.
///
/// The time is processor time of all threads of the process. So a function gets as much of it on a busy machine as
/// on an idle one, unless that takes six times as long on the wall clock, and longer than half a minute. A thread
/// checks the time and the memory several times a second. It ends the process rather than the function, because some work inside the engine, such
/// as matching a pattern, can't be interrupted.
final class ScriptWatchdog: Sendable {
    /// The processor time at which the running function began, in milliseconds; 0 if none is running.
    private let start = Atomic<Int64>(0)
    /// The wall-clock time at which the running function began, in milliseconds.
    private let clockStart = Atomic<Int64>(0)
    private let limit: Int64
    private let isLowered = Atomic<Bool>(false)
    /// The processor time in milliseconds after which a function, or a call of many, is slow.
    static let slow: Int64 = 250
    /// The niceness of a process with a slow function: a third of the time of a quick one. With the lowest priority a function hardly ran on
    /// a busy machine, and exceeded its wall-clock time.
    private static let niceness: Int32 = 10
    /// The wall-clock time in milliseconds that a function may take.
    private var patience: Int64 { max(6 * limit, 30_000) }
    /// The maximum memory in use, in bytes.
    private let maximumMemory = Atomic<Int>(.max)
    private let memory = MemoryInUse()

    /// Starts watching.
    ///
    /// - Parameter milliseconds: The time limit of a function.
    init(milliseconds: Int) {
        limit = Int64(milliseconds)
        // Scripts must not run without the watchdog.
        do { try SystemThread.detach { self.watch() } } catch { _exit(ScriptExit.misuse) }
    }

    /// Limits memory to the current use plus `bytes`; returns `false` if the system does not report it.
    func limitMemory(to bytes: Int) -> Bool {
        guard let used = memory.bytes else { return false }
        maximumMemory.store(used + bytes, ordering: .relaxed)
        return true
    }

    /// Whether a function was slow. The lower priority can't be undone, so the process should end after the call.
    var hasGivenWay: Bool { isLowered.load(ordering: .relaxed) }

    /// Records the start of a function.
    func begin() {
        clockStart.store(Self.time(of: CLOCK_MONOTONIC), ordering: .relaxed)
        // After the wall-clock time, so that the other thread never reads a new start with an old wall-clock time.
        start.store(max(Self.time(of: CLOCK_PROCESS_CPUTIME_ID), 1), ordering: .releasing)
    }

    /// Records the end of a function.
    func end() { start.store(0, ordering: .relaxed) }

    private func watch() {
        while true {
            usleep(20_000)
            let begun = start.load(ordering: .acquiring)
            guard begun != 0 else { continue }
            let computed = Self.time(of: CLOCK_PROCESS_CPUTIME_ID) - begun
            let isOver =
                computed > limit
                || Self.time(of: CLOCK_MONOTONIC) - clockStart.load(ordering: .relaxed) > patience
            // If the function has ended meanwhile, it was in time.
            if isOver, start.load(ordering: .relaxed) == begun { _exit(ScriptExit.timeout) }
            if computed > Self.slow, !hasGivenWay, start.load(ordering: .relaxed) == begun {
                isLowered.store(true, ordering: .relaxed)
                ChildProcess.setPriority(Self.niceness, of: getpid())
            }
            if let used = memory.bytes, used > maximumMemory.load(ordering: .relaxed) { _exit(ScriptExit.memory) }
        }
    }

    /// The time of a clock in milliseconds.
    private static func time(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

// MARK: - MemoryInUse

/// The memory in use by the process, as the system reports it.
///
/// On Linux it reads a file that stays open, because a worker can't open one later.
struct MemoryInUse: Sendable {
    #if os(Linux)
    private let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)

    /// The resident memory in bytes; `nil` if the system does not report it.
    var bytes: Int? {
        var text = [UInt8](repeating: 0, count: 128)
        let count = pread(file, &text, text.count, 0)
        guard count > 0 else { return nil }
        let words = text[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
    #else
    /// The resident memory in bytes; `nil` if the system does not report it.
    var bytes: Int? {
        var info = mach_task_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<mach_task_basic_info>.size / MemoryLayout<natural_t>.size)
        let code = withUnsafeMutablePointer(to: &info) { info in
            info.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
                task_info(mach_task_self_, task_flavor_t(MACH_TASK_BASIC_INFO), $0, &count)
            }
        }
        return code == KERN_SUCCESS ? Int(info.resident_size) : nil
    }
    #endif
}
