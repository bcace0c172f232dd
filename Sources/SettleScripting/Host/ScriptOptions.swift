/// Where the worker processes of a ``ScriptPool`` come from, and what they may use.
public struct ScriptOptions: Sendable {
    /// The program that is run as a worker; it has to call ``ScriptWorker/main(_:)``.
    public var executable: String
    /// What stands between the program's name and the worker's own arguments.
    public var arguments: [String]
    /// How many milliseconds a function may run; 5,000 unless set, as in CouchDB.
    public var timeLimit = 5000
    /// How much memory the scripts of one worker may take, in bytes; 256 MiB unless set.
    public var memoryLimit = 256 << 20
    /// How many workers run quick functions at the same time; as many as there are processors, at least two, unless set.
    public var workers: Int
    /// How many more there may be while functions run for long; 12 unless set.
    public var moreWorkers = 12
    /// Called with each line a script writes by `log`, with the database it belongs to; nobody unless set.
    public var log: @Sendable (_ owner: String, _ line: String) -> Void = { _, _ in }

    /// Makes options with the defaults.
    ///
    /// - Parameters:
    ///   - executable: The program that is run as a worker.
    ///   - arguments: What stands between its name and the worker's own arguments.
    public init(executable: String, arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
        workers = max(processorCount(), 2)
    }
}
