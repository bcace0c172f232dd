public import SettleCore
internal import SettlePlatform

/// Settles conflicts as they arrive, until it is stopped.
///
///     let settling = database.settleAutomatically(using: .threeWayMerge())
///     for await event in settling.events {
///         if case .failed(let id, let error) = event { print(id, error) }
///     }
///
/// It starts with all existing conflicts, including those that failed in an earlier run (SEMANTICS 31, 32), and
/// continues with each changed document. A failed conflict is retried when the document changes, at the next sweep, or
/// when settling is started again. While the database is suspended, or another process keeps it, settling waits; a
/// policy is then asked again about what it could not store.
public final class AutomaticSettling: Sendable {
    /// The result for one document.
    public enum Event: Sendable {
        /// The policy was called, or racing answers were settled; see ``Settlement/outcome``.
        case settled(Settlement)
        /// The conflict stays, with the reason.
        case failed(DocumentID, DatabaseError)
        /// Settling ended because the database failed.
        case ended(DatabaseError)
    }

    /// The policy.
    public let policy: ConflictPolicy
    /// The result for each conflict, one event per attempt (SEMANTICS 33). The newest 1000 are buffered; there is one
    /// reader.
    public let events: AsyncStream<Event>

    private let database: Database
    private let progress = SettlingProgress()
    private let task = Guarded<Task<Void, Never>?>(nil)
    private let isEnded = Guarded(false)

    init(_ policy: ConflictPolicy, sweepEvery interval: Duration?, atOnce: Int, _ database: Database) {
        self.policy = policy
        self.database = database
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1000))
        self.events = events
        let worker = SettlingWorker(
            database: database, policy: policy, slots: SettlingSlots(atOnce), continuation: continuation,
            progress: progress)
        let running = Task { await worker.run(sweepEvery: interval) }
        task.withLock { $0 = running }
    }

    /// Waits until everything that was written before this call has been processed. Only conflicts that failed or
    /// were left then remain (SEMANTICS 40). After ``stop()`` it does not wait.
    ///
    /// - Throws: The ``DatabaseError`` with which settling ended before that, such as `closed` or `inputOutput`, or
    ///   `CancellationError`.
    public func idle() async throws {
        let sequence = try await database.patiently { try await database.perform { try $0.lastSequence() } }
        try await progress.wait(for: sequence)
        try Task.checkCancellation()
    }

    /// Stops after the conflicts in progress. The remaining ones stay in the database and are settled when settling
    /// starts again.
    public func stop() async {
        end()
        await task.withLock(\.self)?.value
    }

    /// Cancels the loop, once.
    private func end() {
        let isFirst = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return !isEnded
        }
        guard isFirst else { return }
        task.withLock(\.self)?.cancel()
        database.forgetSettling(by: policy)
    }

    deinit { end() }
}

extension Database {
    /// Settles conflicts as they arrive, in the background, until the returned object is stopped or released.
    ///
    /// Use one policy for a database: a second one at the same time causes a warning, because it would be arbitrary
    /// which of the two is called (SEMANTICS 42).
    ///
    /// - Parameters:
    ///   - policy: The rule; it may be a rule that waits. It can't be changed during the run (45).
    ///   - interval: The time between retries of all remaining conflicts, in addition to watching changes (86);
    ///     `nil`, the default, for no such retries.
    ///   - atOnce: The number of documents that may be settled concurrently. A policy that waits for a person
    ///     delays no other document while fewer questions than this are open.
    /// - Returns: The running settling; it stops when it is released.
    public func settleAutomatically(
        using policy: ConflictPolicy, sweepEvery interval: Duration? = nil, atOnce: Int = 4
    ) -> AutomaticSettling {
        registerSettling(by: policy)
        return AutomaticSettling(policy, sweepEvery: interval, atOnce: atOnce, self)
    }

    /// Records that a policy settles conflicts from now on, and warns if another policy does so, too.
    ///
    /// - Returns: The other policy, if there is one.
    @discardableResult
    package func registerSettling(by policy: ConflictPolicy) -> String? {
        let other = settlings.register(policy)
        if let other {
            warn(
                "conflicts are settled by \(policy.identity) and by \(other) at the same time; use one policy for a database",
                in: .conflicts)
        }
        return other
    }

    /// Records that a policy no longer settles conflicts.
    package func forgetSettling(by policy: ConflictPolicy) { settlings.forget(policy) }
}

// MARK: - SettlingPolicies

/// The policies that currently settle a database automatically.
final class SettlingPolicies: Sendable {
    private let names = Guarded<[String]>([])

    /// Records that a policy starts; returns another running policy, if there is one.
    func register(_ policy: ConflictPolicy) -> String? {
        names.withLock { names in
            defer { names.append(policy.identity) }
            return names.first { $0 != policy.identity }
        }
    }

    /// Records that a policy has ended.
    func forget(_ policy: ConflictPolicy) {
        names.withLock { names in
            if let index = names.firstIndex(of: policy.identity) { names.remove(at: index) }
        }
    }
}

// MARK: - SettlingWorker

/// The loop of automatic settling: a sweep over all conflicts, then every change as it arrives.
///
///     changes ──▶ slots, a bounded number of documents ──▶ policy ──▶ settled
///                                                              └─ waits for a person, while others continue
struct SettlingWorker: Sendable {
    let database: Database
    let policy: ConflictPolicy
    let slots: SettlingSlots
    let continuation: AsyncStream<AutomaticSettling.Event>.Continuation
    let progress: SettlingProgress

    func run(sweepEvery interval: Duration?) async {
        var failure: DatabaseError?
        do { try await work(sweepEvery: interval) } catch { failure = error as? DatabaseError }
        if let failure, failure.code != .closed {
            continuation.yield(.ended(failure))
            database.log(.error, .conflicts, "conflicts are no longer settled: \(failure)", database.logMetadata)
        }
        progress.finish(failure)
        continuation.finish()
    }

    /// Settles until the database is closed or fails, or the task is cancelled.
    private func work(sweepEvery interval: Duration?) async throws {
        let start = try await database.patiently { try await database.perform { try $0.lastSequence() } }
        try await sweep()
        progress.reach(start)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await follow(from: start) }
            if let interval {
                group.addTask {
                    while true {
                        try await Task.sleep(for: interval.bounded)
                        try await sweep()
                    }
                }
            }
            _ = try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
        throw DatabaseError(.closed, "the database was closed")
    }

    private func follow(from start: UpdateSequence) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var seen = start
            while !Task.isCancelled {
                let (page, newest) = try await changes(after: seen)
                for change in page where change.leaves.count > 1 && !change.isDeleted {
                    await slots.acquire()
                    let question = progress.begin(change.sequence)
                    group.addTask {
                        defer { slots.giveBack() }
                        try await settle(change.id)
                        // After an error that ends settling, the question stays open, so that nobody takes it for done.
                        progress.end(question)
                    }
                }
                seen = page.last?.sequence ?? max(newest, seen)
                progress.reach(seen)
                if page.isEmpty, await !database.changeBell.wait(after: seen.number) { return }
            }
        }
    }

    /// The changes after a position, at most 100, and the newest sequence.
    private func changes(after seen: UpdateSequence) async throws -> ([Change], UpdateSequence) {
        try await database.patiently {
            try await database.perform { database in
                try database.snapshot {
                    (try database.changes(since: seen, limit: 100, style: .allLeaves), try database.lastSequence())
                }
            }
        }
    }

    private func sweep() async throws {
        var sweep = ConflictSweep(policy.kinds)
        while case let page = try await nextPage(of: &sweep), !page.isEmpty {
            try await withThrowingDiscardingTaskGroup { group in
                for id in page {
                    await slots.acquire()
                    group.addTask {
                        defer { slots.giveBack() }
                        try await settle(id)
                    }
                }
            }
        }
    }

    private func nextPage(of sweep: inout ConflictSweep) async throws -> [DocumentID] {
        let before = sweep
        let (page, after) = try await database.patiently {
            var sweep = before
            let page = try await sweep.next(in: database)
            return (page, sweep)
        }
        sweep = after
        return page
    }

    private func settle(_ id: DocumentID) async throws {
        try Task.checkCancellation()
        do {
            let settlement = try await database.patiently { try await database.settle(id, asking: policy) }
            if settlement.outcome != .nothing { continuation.yield(.settled(settlement)) }
        } catch let error as DatabaseError where error.code.isOfOneDocument {
            if error.code != .notFound { continuation.yield(.failed(id, error)) }
        }
    }
}

// MARK: - SettlingProgress

/// Records how far automatic settling has processed the changes of a database.
final class SettlingProgress: Sendable {
    private struct State {
        /// All changes up to here were processed, except for open questions.
        var scanned: UpdateSequence = 0
        /// The sequences of documents that are being settled.
        var open: [Int: UpdateSequence] = [:]
        var nextQuestion = 0
        /// The error with which processing ended.
        var failure: DatabaseError?

        func isDone(_ sequence: UpdateSequence) -> Bool {
            scanned >= sequence && open.values.allSatisfy { $0 > sequence }
        }
    }

    private let state = Guarded(State())
    private let bell = Bell()

    /// Records that all changes up to a sequence were processed.
    func reach(_ sequence: UpdateSequence) {
        state.withLock { $0.scanned = max($0.scanned, sequence) }
        bell.ring()
    }

    /// Records that settling of a document that was changed at a sequence has begun; returns a number for
    /// ``end(_:)``.
    func begin(_ sequence: UpdateSequence) -> Int {
        state.withLock { state in
            state.nextQuestion += 1
            state.open[state.nextQuestion] = sequence
            return state.nextQuestion
        }
    }

    /// Records that settling of a document has ended, with a settlement or a failure of that document.
    func end(_ question: Int) {
        state.withLock { $0.open[question] = nil }
        bell.ring()
    }

    /// Records that nothing more will be processed, and the error that is the cause.
    func finish(_ failure: DatabaseError?) {
        state.withLock { $0.failure = failure }
        bell.end()
    }

    /// Waits until everything up to a sequence was processed, processing has ended, or the task is cancelled.
    ///
    /// - Throws: The error with which processing ended before that.
    func wait(for sequence: UpdateSequence) async throws {
        while true {
            let seen = bell.position
            if state.withLock({ $0.isDone(sequence) }) { return }
            guard await bell.wait(after: seen) else { break }
        }
        let failure = state.withLock { $0.isDone(sequence) ? nil : $0.failure }
        if let failure { throw failure }
    }
}
