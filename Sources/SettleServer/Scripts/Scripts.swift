internal import SettleDatabase
internal import SettlePlatform
internal import SettleScripting

/// The script workers of a server.
final class Scripts: Sendable {
    let pool: ScriptPool
    /// Threads for requests that wait for scripts.
    let threads = ScriptThreads(limit: 64, limitOfOwner: 8)

    init(_ options: ScriptOptions, log: ServerLog?) {
        var options = options
        if let log {
            let other = options.log
            options.log = { owner, line in
                let folder = owner.split(separator: " ").first.map(String.init) ?? owner
                let name = folder.split(separator: "/").last.map(String.init) ?? folder
                log.notice("script", ["database": name.replacing(".settle", with: ""), "line": line])
                other(owner, line)
            }
        }
        pool = ScriptPool(options)
    }

    /// Ends the workers.
    func close() {
        pool.close()
        threads.close()
    }
}

// MARK: - ScriptThreads

/// Threads for requests that wait for scripts, limited per database, so that they block no other requests.
final class ScriptThreads: Sendable {
    private struct State {
        var running: [String: Int] = [:]
        var waiting: [String: [WorkerPool.Job]] = [:]
    }

    private let pool: WorkerPool
    private let limitOfOwner: Int
    private let state = Guarded(State())

    init(limit: Int, limitOfOwner: Int) {
        pool = WorkerPool(limit: limit)
        self.limitOfOwner = limitOfOwner
    }

    /// Runs a job as soon as its owner is below its limit and a thread is free.
    func submit(for owner: String, _ job: @escaping WorkerPool.Job) {
        let isNow = state.withLock { state in
            guard state.running[owner, default: 0] < limitOfOwner else {
                state.waiting[owner, default: []].append(job)
                return false
            }
            state.running[owner, default: 0] += 1
            return true
        }
        if isNow { start(job, for: owner) }
    }

    private func start(_ job: @escaping WorkerPool.Job, for owner: String) {
        pool.submit { [self] in
            job()
            if let next = next(for: owner) { start(next, for: owner) }
        }
    }

    /// The next job of an owner after one has finished.
    private func next(for owner: String) -> WorkerPool.Job? {
        state.withLock { state in
            if var jobs = state.waiting[owner], !jobs.isEmpty {
                let next = jobs.removeFirst()
                state.waiting[owner] = jobs.isEmpty ? nil : jobs
                return next
            }
            let left = (state.running[owner] ?? 1) - 1
            state.running[owner] = left > 0 ? left : nil
            return nil
        }
    }

    /// Ends the threads once all jobs are done.
    func close() { pool.close() }
}
