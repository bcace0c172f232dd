internal import Dispatch
internal import Settle
internal import SettlePlatform

/// Runs replications while the main thread shows their progress: a bar on a terminal, otherwise lines.
///
///     main thread   ──┐ starts them                        ┌─▶ what they have done
///                     └ draws, writes, looks for Ctrl-C ───┘
///     pool              the replicators
///
/// Ctrl-C stops them as `stop()` does: revisions that were fetched are stored, conflicts are settled, a checkpoint
/// is written.
final class ReplicationRunner {
    /// A replication and its label.
    struct Job {
        /// The label of the bar: `Sending`.
        let label: String
        let configuration: ReplicationConfiguration
        /// Whether it discards its checkpoints first.
        let isFromStart: Bool
    }

    /// A running replication.
    private struct Running {
        let job: Job
        let replicator: OneWayReplicator
        let outcome: Guarded<Result<ReplicationResult, any Error>?>
        /// The last shown mode and number of written revisions.
        var shown: (mode: ReplicationStatus.Mode, written: Int)?

        var isDone: Bool { outcome.withLock { $0 != nil } }
    }

    private let console: Console
    private let showsEvents: Bool
    private let lines: ReplicationLines
    private let bar: ProgressBar
    private let happened = Guarded<[(event: ReplicationEvent, direction: ReplicationDirection)]>([])
    private let wake = DispatchSemaphore(value: 0)
    /// Signaled when all events of a replication were taken.
    private let ended = DispatchSemaphore(value: 0)

    init(console: Console, showsEvents: Bool) {
        self.console = console
        self.showsEvents = showsEvents
        lines = ReplicationLines(console: console)
        bar = ProgressBar(console)
    }

    /// The elapsed time.
    var elapsed: Duration { bar.elapsed }

    /// Runs replications, all at the same time.
    ///
    /// - Returns: The result of each replication, in the given order.
    /// - Throws: The ``PeerError`` of the first that failed.
    func run(_ jobs: [Job]) throws -> [ReplicationResult] {
        let outcomes = try watched(jobs.map(begin))
        bar.finish()
        // The events end when the replicators end.
        for _ in jobs { _ = ended.wait(timeout: .now() + .seconds(5)) }
        try writeHappened()
        return try outcomes.map { try $0.get() }
    }

    private func begin(_ job: Job) -> Running {
        let replicator = OneWayReplicator(job.configuration)
        let (stream, direction) = (replicator.events, job.configuration.direction)
        let outcome = Guarded<Result<ReplicationResult, any Error>?>(nil)
        Task.detached { [happened, ended] in
            for await event in stream { happened.withLock { $0.append((event, direction)) } }
            ended.signal()
        }
        Task.detached { [wake] in
            let result: Result<ReplicationResult, any Error>
            if job.isFromStart { await replicator.resyncFromStart() }
            do { result = .success(try await replicator.run()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            wake.signal()
        }
        return Running(job: job, replicator: replicator, outcome: outcome)
    }

    /// Shows the progress of replications until all have ended. They are released here, which ends their events.
    private func watched(_ given: [Running]) throws -> [Result<ReplicationResult, any Error>] {
        var running = given
        var isStopping = false
        while !running.allSatisfy(\.isDone) {
            _ = wake.wait(timeout: .now() + .milliseconds(100))
            if Interruption.isWanted, !isStopping {
                isStopping = true
                for one in running { Task.detached { await one.replicator.stop() } }
            }
            try writeHappened()
            showBar(running.filter { !$0.isDone })
            for index in running.indices { try show(&running[index]) }
        }
        return running.compactMap { $0.outcome.withLock(\.self) }
    }

    /// Draws one bar for all active replications.
    private func showBar(_ running: [Running]) {
        let active = running.map { (label: $0.job.label, status: $0.replicator.status) }.filter {
            $0.status.mode == .active
        }
        guard let first = active.first else { return }
        let statuses = active.map(\.status)
        let label = active.count == 1 ? first.label : "Syncing"
        bar.update(label, fraction: ReplicationProgress(statuses).fraction, details(statuses))
    }

    private func show(_ one: inout Running) throws {
        let status = one.replicator.status
        guard one.job.configuration.isContinuous, status.mode != .active else { return }
        let written = status.counts.revisionsWritten
        if let shown = one.shown, shown == (status.mode, written) { return }
        one.shown = (status.mode, written)
        bar.finish()
        if !console.isQuiet || status.mode == .offline { try lines.write(status, one.job.configuration.direction) }
        try console.output.flush()
    }

    private func details(_ statuses: [ReplicationStatus]) -> String {
        let progress = ReplicationProgress(statuses)
        let rate = Quantity.rate(statuses.reduce(0) { $0 + $1.counts.revisionsWritten }, in: elapsed)
        var words = [
            "\(Quantity.grouped(progress.completed)) of \(Quantity.of(progress.total, "document"))", rate,
            Quantity.bytes(statuses.reduce(0) { $0 + $1.bytesWritten }),
        ]
        if let share = progress.fraction, share > 0.02, share < 1 {
            let left = Quantity.seconds(elapsed) * (1 - share) / share
            words.append("\(Quantity.duration(.seconds(left.rounded()))) left")
        }
        let conflicts = statuses.reduce(0) { $0 + $1.pendingConflicts }
        if conflicts > 0 { words.append("\(Quantity.of(conflicts, "conflict"))") }
        return words.joined(separator: "  ")
    }

    private func writeHappened() throws {
        let events = happened.withLock { events in
            defer { events = [] }
            return events
        }
        if events.isEmpty { return }
        bar.finish()
        for (event, direction) in events { try lines.write(event, direction, hasDocuments: showsEvents) }
        // A reader of the lines gets them now, not when a buffer is full.
        if showsEvents { try console.output.flush() }
    }
}
