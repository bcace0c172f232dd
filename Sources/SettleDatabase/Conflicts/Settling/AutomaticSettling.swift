public import RevisionTree

/// Settles conflicts as they arrive, until it is stopped.
///
///     let settling = try database.settleAutomatically(using: .threeWayMerge())
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

    init(_ policy: ConflictPolicy, sweepEvery interval: Duration?, _ database: Database) {
        self.policy = policy
        self.database = database
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1000))
        self.events = events
        let worker = SettlingWorker(database: database, policy: policy, continuation: continuation, progress: progress)
        let running = Task { await worker.run(sweepEvery: interval) }
        task.withLock { $0 = running }
    }

    /// Waits until everything that was written to the database before this call has been looked at: there are no conflicts
    /// then but those that failed or were left (SEMANTICS 40).
    ///
    /// - Throws: ``DatabaseError`` with code `closed` or `inputOutput`.
    public func idle() async throws {
        let sequence = try await database.perform { try $0.lastSequence() }
        await progress.wait(for: sequence)
    }

    /// Stops after the conflict it is at. What is left stays in the database and is settled when settling starts again.
    public func stop() async {
        await end()?.value
    }

    /// Cancels the loop, once.
    private func end() -> Task<Void, Never>? {
        let running = task.withLock { task in
            defer { task = nil }
            return task
        }
        guard let running else { return nil }
        running.cancel()
        database.settlings.forget(policy)
        return running
    }

    deinit {
        _ = end()
    }
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
    /// - Returns: The running settling.
    public func settleAutomatically(
        using policy: ConflictPolicy, sweepEvery interval: Duration? = nil
    ) -> AutomaticSettling {
        if let other = settlings.note(policy) {
            options.warn(
                "conflicts are settled by \(policy) and by \(other) at the same time; use one policy for a database")
        }
        return AutomaticSettling(policy, sweepEvery: interval, self)
    }
}
