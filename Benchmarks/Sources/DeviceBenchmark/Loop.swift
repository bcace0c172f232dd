import Synchronization

/// The one thread that everything here runs on: what devices wait for is awaited, and nothing needs a lock.
@globalActor
actor Loop {
    static let shared = Loop()
    static let executor = LoopExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

    /// Begins something that runs on this thread alone.
    @discardableResult
    static func begin<Value: Sendable>(
        _ body: @escaping @Loop @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        // Without the preference continuations resume on a thread of the pool, which hands them to this one.
        Task(executorPreference: executor) { try await body() }
    }
}

/// Runs jobs in order on the thread that calls ``run()``, and polls the sockets between them.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Whether there are jobs that could run now.
    var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    func run() -> Never {
        while true {
            Loop.begin { Poller.shared.poll(mayWait: !Loop.executor.hasJobs) }
            let due = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in due {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
    }
}
