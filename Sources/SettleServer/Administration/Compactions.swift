internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Compacts databases one after the other, while nobody waits for it.
final class Compactions: Sendable {
    /// A compaction that runs, as `_active_tasks` shows it.
    struct Running: Sendable {
        let number: Int
        let database: String
        /// The times of its start and of its last progress, in seconds since 1970.
        let start: Int
        var update: Int
        var phase = "document_copy"
        var done = 0
        var total = 0

        var json: JSONValue {
            [
                "node": "nonode@nohost", "pid": .string("<0.\(number).0>"), "changes_done": .number(JSONNumber(done)),
                "database": .string(database), "phase": .string(phase),
                "progress": .number(JSONNumber(total > 0 ? done * 100 / total : 0)),
                "started_on": .number(JSONNumber(start)), "total_changes": .number(JSONNumber(total)),
                "type": "database_compaction", "updated_on": .number(JSONNumber(update)),
            ]
        }
    }

    /// Takes note of how far a compaction is: in which phase, and how much of it is done.
    typealias Report = @Sendable (_ phase: String, _ done: Int, _ total: Int) -> Void

    private struct State {
        var names: Set<String> = []
        var running: [Running] = []
        var count = 0
    }

    private let pool = WorkerPool(limit: 1)
    private let state = Guarded(State())
    private let log: ServerLog?

    init(log: ServerLog?) { self.log = log }

    /// Compacts a database soon, unless that is scheduled already.
    func start(_ database: Database, _ name: String) {
        start(name) { [log] report in
            // A compaction that fails has lost nothing; the next one begins anew.
            do {
                try database.compact {
                    let isFirst = $0.phase == "old revisions"
                    report(
                        isFirst ? "document_copy" : $0.phase.replacing(" ", with: "_"), $0.completed, $0.total)
                }
            } catch let error as DatabaseError where error.code == .closed {
            } catch { log?.warning("a database was not compacted: \(error)", ["db": name]) }
        }
    }

    /// Does some work as the compaction of a database.
    func start(_ name: String, work: @escaping @Sendable (Report) -> Void) {
        guard state.withLock({ $0.names.insert(name).inserted }) else { return }
        pool.submit { [state] in
            state.withLock { state in
                state.count += 1
                let now = time(nil)
                state.running = [Running(number: state.count, database: name, start: now, update: now)]
            }
            work { phase, done, total in
                let now = time(nil)
                state.withLock { state in
                    for index in state.running.indices {
                        state.running[index].phase = phase
                        state.running[index].done = done
                        state.running[index].total = total
                        state.running[index].update = now
                    }
                }
            }
            state.withLock { state in
                state.running = []
                state.names.remove(name)
            }
        }
    }

    /// Whether a database is being compacted, or will be.
    func isRunning(_ name: String) -> Bool { state.withLock { $0.names.contains(name) } }

    /// Those that run.
    var tasks: [Running] { state.withLock { $0.running } }

    /// Ends the thread once all is done.
    func close() { pool.close() }
}
