internal import SettlePlatform

/// The worker processes of a ``ScriptPool`` and their limits.
public struct ScriptOptions: Sendable {
    /// The program that is run as a worker; it has to call ``ScriptWorker/main(_:)``.
    public var executable: String
    /// The arguments before the worker's own.
    public var arguments: [String]
    /// The time limit of a function in milliseconds, at least 1 and at most a day; by default 5,000, as in CouchDB.
    public var timeLimit = 5000
    /// The memory limit of one worker's scripts in bytes, at least 1; by default 256 MiB.
    public var memoryLimit = 256 << 20
    /// The number of workers for quick functions, at least 1; by default the number of processors, at least two.
    public var workers: Int
    /// The number of additional workers while functions run for a long time, at least 0; by default 12.
    public var moreWorkers = 12
    /// Called with each line that a script writes by `log`, and the database it belongs to; by default lines are
    /// dropped.
    public var log: @Sendable (_ owner: String, _ line: String) -> Void = { _, _ in }

    /// Creates options with the defaults.
    ///
    /// - Parameters:
    ///   - executable: The program that is run as a worker.
    ///   - arguments: The arguments before the worker's own.
    public init(executable: String, arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
        workers = max(processorCount(), 2)
    }

    /// The options, limited to ranges in which arithmetic can't overflow.
    var bounded: ScriptOptions {
        var copy = self
        copy.timeLimit = min(max(timeLimit, 1), 86_400_000)
        copy.memoryLimit = min(max(memoryLimit, 1), .max / 2)
        copy.workers = min(max(workers, 1), 1 << 20)
        copy.moreWorkers = min(max(moreWorkers, 0), 1 << 20)
        return copy
    }
}

// MARK: - ProcessorCount

/// The number of available processors.
func processorCount() -> Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }
