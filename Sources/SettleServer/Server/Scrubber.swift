internal import SettleDatabase
internal import SettlePlatform

/// Reads all databases slowly in the background, so that damage of rarely read data is found while good copies still exist.
///
///     database ── page ── pause ── page ── pause ── … ── next database ── … ── all were read lately: wait
///
/// Each database is read once in an interval, by one of the nodes that share it. After each page there is a pause, some times as
/// long as reading the page took.
final class Scrubber: Sendable {
    /// How often, and how fast.
    struct Pace: Sendable {
        /// The time between two scrubs of a database.
        let interval: Duration
        /// The time of a pause as a multiple of the time that reading a page took.
        var pauses = 30.0
        /// The time between two checks for databases that are due.
        var look = Duration.seconds(600)
        /// The number of documents in a page.
        var page = 100
    }

    private struct State {
        var isStopped = false
        var isRunning = false
        var documents = 0
        var attachments = 0
        var rounds = 0
        /// How many problems the last scrub of a database has found.
        var damaged: [String: Int] = [:]
    }

    private let databases: DatabasePool
    private let pace: Pace
    private let log: ServerLog?
    private let state = Monitor(State())

    init(_ databases: DatabasePool, _ pace: Pace, log: ServerLog?) {
        (self.databases, self.pace, self.log) = (databases, pace, log)
    }

    /// Starts on a thread of its own.
    func start() {
        state.withLock { $0.isRunning = true }
        do {
            try SystemThread.detach { [self] in
                run()
                state.update { $0.isRunning = false }
            }
        } catch {
            state.update { $0.isRunning = false }
            log?.warning("databases are not scrubbed: \(error)")
        }
    }

    /// Stops, usually before the databases are closed. If it is reading a large attachment, it first reads it to the end.
    func stop() {
        state.update { $0.isStopped = true }
        _ = state.wait(seconds: 1) { $0.isRunning ? nil : true }
    }

    /// All numbers as they are now.
    var metrics: [Metric] {
        let state = state.withLock { $0 }
        return [
            Metric(
                ["settle", "scrub_documents"], .counter, "number of documents that scrubs have read", state.documents),
            Metric(
                ["settle", "scrub_attachments"], .counter, "number of contents of attachments that scrubs have read",
                state.attachments),
            Metric(["settle", "scrub_databases"], .counter, "number of databases that were scrubbed", state.rounds),
            Metric(
                ["settle", "scrub_problems"], .gauge,
                "number of problems that the last scrubs of all databases have found",
                state.damaged.values.reduce(0, +)),
        ]
    }

    private func run() {
        // The other work of a start comes first.
        if pause(min(pace.look.inSeconds, 10)) { return }
        repeat {
            let names = (try? databases.names.names { _ in true }) ?? []
            for name in names {
                if isStopped { return }
                do { try scrub(name) } catch let error as HTTPError where error.status == 404 {
                    // It was deleted meanwhile.
                } catch let error as DatabaseError where [.corrupt, .newerFormat, .notADatabase].contains(error.code) {
                    found([error.message], in: name)
                } catch let error as DatabaseError where error.code == .closed {
                } catch { log?.warning("a database was not scrubbed: \(error)", ["db": name]) }
            }
            let known = Set(names)
            state.withLock { state in state.damaged = state.damaged.filter { known.contains($0.key) } }
        } while !pause(pace.look.inSeconds)
    }

    /// The time in milliseconds since 1970.
    private static var now: Int64 {
        let now = WallTime.now()
        return Int64(now.seconds) * 1000 + Int64(now.milliseconds)
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Waits; returns whether to end.
    private func pause(_ seconds: Double) -> Bool {
        state.wait(seconds: seconds) { $0.isStopped ? true : nil } ?? false
    }

    private func scrub(_ name: String) throws {
        guard
            try databases.open(name).claimScrub(
                at: Self.now, every: Int64(pace.interval.inSeconds * 1000))
        else { return }
        state.withLock { $0.damaged[name] = nil }
        var place = ScrubPlace?.some(.documents(after: nil))
        while let current = place {
            let start = ContinuousClock.now
            // It is not kept open during the pauses.
            let step = try databases.open(name).scrub(from: current, limit: pace.page)
            state.withLock { state in
                state.documents += step.report.documents
                state.attachments += step.report.blobs
            }
            found(step.report.problems, in: name)
            place = step.next
            let pauseTime = (ContinuousClock.now - start).inSeconds * pace.pauses
            if pause(min(pauseTime, 60)) { return }
        }
        state.withLock { $0.rounds += 1 }
    }

    private func found(_ problems: [String], in name: String) {
        guard !problems.isEmpty else { return }
        for problem in problems { log?.warning("a scrub has found damage: \(problem)", ["db": name]) }
        state.withLock { $0.damaged[name, default: 0] += problems.count }
    }
}
