internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The running index updates, as `_active_tasks` shows them.
final class IndexingTasks: Sendable {
    private struct Task {
        let database: String
        let design: String
        let start: Int
        var update: Int
        var done = 0
        var total = 0
    }

    private struct State {
        var running: [Int: Task] = [:]
        var count = 0
        /// The number of background updates that wait or run.
        var later = 0
    }

    private let state = Guarded(State())
    private let bell = Bell()

    /// Counts a background update, for which no request waits.
    func beginLater() { state.withLock { $0.later += 1 } }

    /// Counts the end of a background update.
    func endLater() {
        state.withLock { $0.later -= 1 }
        bell.ring()
    }

    /// Waits until there are no background updates.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func waitForLater() async throws {
        while true {
            let seen = bell.position
            if state.withLock({ $0.later == 0 }) { return }
            await bell.wait(after: seen)
            try _Concurrency.Task.checkCancellation()
        }
    }

    /// Runs a closure as a task. The closure's parameter reports progress.
    func run<Result>(
        _ database: String, _ design: String, _ body: (_ report: (Int, Int) -> Void) throws -> Result
    ) rethrows -> Result {
        let number = state.withLock { state in
            state.count += 1
            let now = time(nil)
            state.running[state.count] = Task(database: database, design: design, start: now, update: now)
            return state.count
        }
        defer { state.withLock { $0.running[number] = nil } }
        return try body { [state] done, total in
            let now = time(nil)
            state.withLock { state in
                state.running[number]?.done = done
                state.running[number]?.total = total
                state.running[number]?.update = now
            }
        }
    }

    /// Whether an index of a design document is being updated.
    func isRunning(_ database: String, _ design: String) -> Bool {
        state.withLock { $0.running.values.contains { $0.database == database && $0.design == design } }
    }

    /// The tasks with work to do.
    var json: [JSONValue] {
        state.withLock { $0.running.sorted { $0.key < $1.key } }.filter { $0.value.total > 0 }.map { number, task in
            [
                "node": "nonode@nohost", "pid": .string("<0.\(number).1>"),
                "changes_done": .number(JSONNumber(task.done)), "database": .string(task.database),
                "design_document": .string("_design/" + task.design), "indexer_pid": .string("<0.\(number).1>"),
                "progress": .number(JSONNumber(task.done * 100 / max(task.total, 1))),
                "started_on": .number(JSONNumber(task.start)), "total_changes": .number(JSONNumber(task.total)),
                "type": "indexer", "updated_on": .number(JSONNumber(task.update)),
            ]
        }
    }
}
