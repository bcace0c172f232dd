public import RevisionTree
internal import SettlePlatform

/// Settles conflicts as they arrive, until it is stopped.
///
///     let settling = database.settleAutomatically(using: .threeWayMerge())
///     for await event in settling.events {
///         if case .failed(let id, let error) = event { print(id, error) }
///     }
///
/// It begins with all conflicts there are, also those that failed when it last ran (SEMANTICS 31, 32), and goes on with
/// each document that is changed. One that fails is tried again when the document changes, at the next sweep, or when
/// settling is started again, and not before.
public final class AutomaticSettling: Sendable {
    /// What became of one document.
    public enum Event: Sendable {
        /// The policy was asked, or racing answers were made one; see ``Settlement/outcome``.
        case settled(Settlement)
        /// The conflict stays, and why.
        case failed(DocumentID, DatabaseError)
        /// The database can't go on; settling has ended.
        case ended(DatabaseError)
    }

    /// The policy it settles by.
    public let policy: ConflictPolicy
    /// What became of each conflict, one event per attempt, after it ended (SEMANTICS 33). The newest 1000 are kept for
    /// who does not read; there is one reader.
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

    /// Waits until everything that was written to the database before this call has been looked at: there are no conflicts
    /// then but those that failed or were left (SEMANTICS 40).
    ///
    /// - Throws: ``DatabaseError`` with code `closed` or `inputOutput`, or `CancellationError`.
    public func idle() async throws {
        let sequence = try await database.perform { try $0.lastSequence() }
        await progress.wait(for: sequence)
        try Task.checkCancellation()
    }

    /// Stops after the conflicts it is at. What is left stays in the database and is settled when settling starts again.
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
    /// Settles conflicts as they arrive, in the background, until the returned object is stopped or let go.
    ///
    /// Use one policy for a database: another one at the same time is warned about, since which of them is asked would
    /// be chance (SEMANTICS 42).
    ///
    /// - Parameters:
    ///   - policy: The rule; it may be one that waits. It can't be changed while it runs (45).
    ///   - interval: How often to try again all that are left, besides looking at what changes (86); never unless given.
    ///   - atOnce: How many documents the policy may be asked about at the same time. One that waits for a person holds up
    ///     no others as long as there are fewer open questions than this.
    /// - Returns: The running settling; it stops when it is let go of.
    public func settleAutomatically(
        using policy: ConflictPolicy, sweepEvery interval: Duration? = nil, atOnce: Int = 4
    ) -> AutomaticSettling {
        noteSettling(by: policy)
        return AutomaticSettling(policy, sweepEvery: interval, atOnce: atOnce, self)
    }

    /// Notes that conflicts are settled by a policy from now on, and warns if they are by another one too.
    ///
    /// - Returns: The other policy, if there is one.
    @discardableResult
    package func noteSettling(by policy: ConflictPolicy) -> String? {
        let other = settlings.note(policy)
        if let other {
            options.warn(
                "conflicts are settled by \(policy) and by \(other) at the same time; use one policy for a database")
        }
        return other
    }

    /// Notes that conflicts are not settled by a policy any more.
    package func forgetSettling(by policy: ConflictPolicy) { settlings.forget(policy) }
}
