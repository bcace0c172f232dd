internal import SettleDatabase
internal import SettlePlatform

/// Reads all databases slowly in the background to find damage in rarely read data while good copies still exist.
///
///     database ── page ── pause ── page ── pause ── … ── next database ── … ── all were read lately: wait
///
/// Each database is read once per interval, by one of the nodes that share it. After each page the scrubber pauses
/// for a multiple of the time that reading the page took. The position is stored in the database, so a scrub
/// continues there after a restart.
final class Scrubber: Sendable {
    /// The interval and the speed of scrubs.
    struct Pace: Sendable {
        /// The time between two scrubs of a database.
        let interval: Duration
        /// The length of a pause as a multiple of the time that reading the page took.
        var pauses = 30.0
        /// The time between two checks for databases that are due.
        var look = Duration.seconds(600)
        /// The number of documents in a page.
        var page = 100
        /// The time after which another node, or this one after a restart, takes over a scrub that has stored no
        /// progress.
        var lease = Duration.seconds(3600)
    }

    private struct State {
        var isStopped = false
        var isRunning = false
        var documents = 0
        var attachments = 0
        var rounds = 0
        /// The number of problems that the last scrub of each database found.
        var damaged: [String: Int] = [:]
    }

    private let databases: DatabasePool
    private let pace: Pace
    private let log: ServerLog?
    private let state = Monitor(State())

    init(_ databases: DatabasePool, _ pace: Pace, log: ServerLog?) {
        (self.databases, self.pace, self.log) = (databases, pace, log)
    }

    /// Starts a separate thread.
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

    /// Tells the thread to stop, and returns at once.
    func stopSoon() { state.update { $0.isStopped = true } }

    /// Stops the thread, usually before the databases are closed. A large attachment that is being read is first
    /// read to its end.
    func stop() {
        stopSoon()
        _ = state.wait(seconds: 1) { $0.isRunning ? nil : true }
    }

    /// The current metrics.
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
        // Leave the first seconds to the other work of a start.
        if pause(min(pace.look.inSeconds, 10)) { return }
        // When to look at each database again, so that a database that is not due isn't opened.
        var due: [String: ContinuousClock.Instant] = [:]
        repeat {
            guard let names = try? databases.names.names(where: { _ in true }) else { continue }
            let known = Set(names)
            due = due.filter { known.contains($0.key) }
            state.withLock { state in state.damaged = state.damaged.filter { known.contains($0.key) } }
            for name in names {
                if let time = due[name], time > .now { continue }
                if isStopped { return }
                due[name] = look(at: name).map { ContinuousClock.now + $0 }
            }
        } while !pause(pace.look.inSeconds)
    }

    /// Scrubs a database if it is due.
    ///
    /// - Returns: The time until the database has to be looked at again; `nil` for the shortest.
    private func look(at name: String) -> Duration? {
        do { return try scrub(name) } catch let error as HTTPError where error.status == 404 {
            // The database was deleted meanwhile.
        } catch let error as DatabaseError where Self.isDamage(error) {
            state.withLock { $0.damaged[name] = nil }
            found([error.message], in: name)
        } catch let error as DatabaseError where error.code == .closed {
        } catch { log?.warning("a database was not scrubbed: \(error)", ["db": name]) }
        return nil
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        [.corrupt, .newerFormat, .notADatabase].contains(error.code)
    }

    /// The time in milliseconds since 1970.
    private static var now: Int64 {
        let now = WallTime.now()
        return Int64(now.seconds) * 1000 + Int64(now.milliseconds)
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Waits; returns true if the thread has to end.
    private func pause(_ seconds: Double) -> Bool {
        state.wait(seconds: seconds) { $0.isStopped ? true : nil } ?? false
    }

    /// Pauses in proportion to the time since `start`; returns true if the thread has to end.
    private func rest(since start: ContinuousClock.Instant) -> Bool {
        pause(min((ContinuousClock.now - start).inSeconds * pace.pauses, 60))
    }

    /// Scrubs a database if it is due; returns the time until it has to be looked at again.
    private func scrub(_ name: String) throws -> Duration {
        let start = ContinuousClock.now
        let turn = try databases.open(name).claimScrub(
            at: Self.now, every: pace.interval.wholeMilliseconds, lease: pace.lease.wholeMilliseconds)
        let ends = rest(since: start)
        switch turn {
        case .later(let milliseconds): return .milliseconds(milliseconds)
        case .now(let place):
            if place == .documents(after: nil) { state.withLock { $0.damaged[name] = nil } }
            if ends { return .zero }
            do {
                guard try read(name, from: place), !isStopped else { return .zero }
            } catch let error as DatabaseError where Self.isDamage(error) {
                found([error.message], in: name)
                // The next attempt would fail at the same place.
                try? databases.open(name).recordScrub(nil, at: Self.now)
                return pace.interval
            }
            try databases.open(name).recordScrub(nil, at: Self.now)
            state.withLock { $0.rounds += 1 }
            return pace.interval
        }
    }

    /// Reads a database from a position on; returns whether it reached the end.
    private func read(_ name: String, from first: ScrubPlace) throws -> Bool {
        var (place, noted) = (first, ContinuousClock.now)
        while true {
            let start = ContinuousClock.now
            if start - noted >= pace.lease * 0.1 {
                try databases.open(name).recordScrub(place, at: Self.now)
                noted = start
            }
            guard let next = try readPage(name, from: place) else { return true }
            place = next
            if rest(since: start) { return false }
        }
    }

    /// Reads a page; returns the position of the next one. The database is not kept open during pauses.
    private func readPage(_ name: String, from place: ScrubPlace) throws -> ScrubPlace? {
        let step = try databases.open(name).scrub(from: place, limit: pace.page)
        state.withLock { state in
            state.documents += step.report.documents
            state.attachments += step.report.blobs
        }
        found(step.report.problems, in: name)
        return step.next
    }

    private func found(_ problems: [String], in name: String) {
        guard !problems.isEmpty else { return }
        for problem in problems { log?.warning("a scrub has found damage: \(problem)", ["db": name]) }
        state.withLock { $0.damaged[name, default: 0] += problems.count }
    }
}
