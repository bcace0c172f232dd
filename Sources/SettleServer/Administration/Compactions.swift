internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Compacts databases one after the other on a background thread.
final class Compactions: Sendable {
    /// A running compaction, as `_active_tasks` shows it.
    struct Running: Sendable {
        let number: Int
        let database: String
        /// The times of the start and of the last progress, in seconds since 1970.
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

    /// Reports the progress of a compaction: its phase, and how much of it is done.
    typealias Report = @Sendable (_ phase: String, _ done: Int, _ total: Int) -> Void

    /// A finished compaction.
    struct Ended: Sendable {
        let number: Int
        let database: String
        /// The instance of the database, which tells it from a later database of the same name.
        let instance: String
        let result: Result<CompactionResult, DatabaseError>

        /// The outcome: what was removed, or the error. The number tells it from earlier compactions.
        var json: JSONValue {
            var json: JSONValue = ["number": .number(JSONNumber(number))]
            switch result {
            case .success(let removed):
                json["bodies"] = .number(JSONNumber(removed.contents))
                json["attachments"] = .number(JSONNumber(removed.blobs))
                json["bytes"] = .number(JSONNumber(removed.bytes))
            case .failure(let error):
                json["error"] = .string(error.code.name)
                json["reason"] = .string(error.message + (error.cause.map { ": \($0)" } ?? ""))
            }
            return json
        }
    }

    /// A database, told from a later one of the same name.
    private struct Subject: Hashable {
        let name: String
        let instance: String
    }

    private struct State {
        /// The databases whose compaction is running or scheduled.
        var subjects: Set<Subject> = []
        var running: [Running] = []
        var ended: [Ended] = []
        var count = 0
    }

    /// The maximum number of kept results.
    private static let maximumEnded = 100

    private let pool = WorkerPool(limit: 1)
    private let state = Guarded(State())
    private let log: ServerLog?

    init(log: ServerLog?) { self.log = log }

    /// Schedules the compaction of a database, unless one is scheduled already.
    ///
    /// - Throws: ``DatabaseError``.
    func start(_ database: Database, _ name: String) throws {
        start(name, instance: try database.instanceName()) { [log] report in
            // A failed compaction loses nothing; the next one starts over.
            do {
                return .success(
                    try database.compact {
                        let isFirst = $0.phase == "old revisions"
                        report(
                            isFirst ? "document_copy" : $0.phase.replacing(" ", with: "_"), $0.completed, $0.total)
                    })
            } catch {
                let failure = error as? DatabaseError ?? DatabaseError(.storage, "\(error)")
                if failure.code != .closed { log?.warning("a database was not compacted: \(error)", ["db": name]) }
                return .failure(failure)
            }
        }
    }

    /// Schedules a job that counts as the compaction of a database.
    func start(
        _ name: String, instance: String, work: @escaping @Sendable (Report) -> Result<CompactionResult, DatabaseError>
    ) {
        let subject = Subject(name: name, instance: instance)
        guard state.withLock({ $0.subjects.insert(subject).inserted }) else { return }
        pool.submit { [state] in
            let number = state.withLock { state in
                state.count += 1
                let now = time(nil)
                state.running = [Running(number: state.count, database: name, start: now, update: now)]
                return state.count
            }
            let result = work { phase, done, total in
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
                state.subjects.remove(subject)
                state.ended.removeAll { $0.database == name }
                state.ended = state.ended.suffix(Self.maximumEnded - 1)
                state.ended.append(Ended(number: number, database: name, instance: instance, result: result))
            }
        }
    }

    /// Whether a compaction of the database is running or scheduled. A database that has no instance name yet gets one.
    ///
    /// - Throws: ``DatabaseError``.
    func isRunning(_ database: Database, _ name: String) throws -> Bool {
        guard state.withLock({ $0.subjects.contains { $0.name == name } }) else { return false }
        let subject = Subject(name: name, instance: try database.instanceName())
        return state.withLock { $0.subjects.contains(subject) }
    }

    /// The last compaction of a database that has ended since the server started.
    ///
    /// - Throws: ``DatabaseError``.
    func last(of database: Database, _ name: String) throws -> Ended? {
        let instance = try database.instanceName()
        return state.withLock { $0.ended.last { $0.database == name && $0.instance == instance } }
    }

    /// The running compactions.
    var tasks: [Running] { state.withLock { $0.running } }

    /// Ends the thread after the scheduled compactions.
    func close() { pool.close() }
}
