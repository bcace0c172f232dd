internal import SettleDatabase

/// Compacts databases one after the other, while nobody waits for it.
final class Compactions: Sendable {
    private let pool = WorkerPool(limit: 1)
    private let names = Guarded<Set<String>>([])

    /// Compacts a database soon, unless that is to be done already.
    func start(_ database: Database, _ name: String) {
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        pool.submit { [names] in
            // A compaction that fails has changed nothing; the next one begins anew.
            _ = try? database.compact()
            _ = names.withLock { $0.remove(name) }
        }
    }

    /// Whether a database is being compacted, or will be.
    func isRunning(_ name: String) -> Bool { names.withLock { $0.contains(name) } }

    /// Ends the thread once all is done.
    func close() { pool.close() }
}
