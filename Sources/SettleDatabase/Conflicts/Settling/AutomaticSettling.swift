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
/// when settling is started again.
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

    /// Waits until everything that was written before this call has been processed: only conflicts that failed or were
    /// left remain then (SEMANTICS 40).
    ///
    /// - Throws: ``DatabaseError`` with code `closed` or `inputOutput`, or `CancellationError`.
    public func idle() async throws {
        let sequence = try await database.perform { try $0.lastSequence() }
        await progress.wait(for: sequence)
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
    /// which of them is called (SEMANTICS 42).
    ///
    /// - Parameters:
    ///   - policy: The rule; it may be one that waits. It can't be changed during the run (45).
    ///   - interval: How often to retry all remaining conflicts, in addition to watching changes (86); never unless
    ///     given.
    ///   - atOnce: How many documents may be settled concurrently. A policy that waits for a person delays no other
    ///     document while fewer questions than this are open.
    /// - Returns: The running settling; it stops when it is released.
    public func settleAutomatically(
        using policy: ConflictPolicy, sweepEvery interval: Duration? = nil, atOnce: Int = 4
    ) -> AutomaticSettling {
        noteSettling(by: policy)
        return AutomaticSettling(policy, sweepEvery: interval, atOnce: atOnce, self)
    }

    /// Records that a policy settles conflicts from now on, and warns if another one does too.
    ///
    /// - Returns: The other policy, if there is one.
    @discardableResult
    package func noteSettling(by policy: ConflictPolicy) -> String? {
        let other = settlings.note(policy)
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
