internal import SettleCore
internal import SettlePlatform

extension Database {
    /// Finishes what is being done, closes all files, and leaves the database to other processes, until ``resume()``.
    ///
    ///     task.expirationHandler = { try? store.suspend() }      // the system is about to suspend the app
    ///
    /// It waits for transactions and snapshots that run; acknowledged writes are on the disk, as far as
    /// ``DatabaseOptions/durability`` says. Later calls throw ``DatabaseErrorCode/suspended``; observers and live queries
    /// wait. Suspending twice is the same as once. Stop replications first: what they do meanwhile fails, and
    /// they try again. A database in memory has no files and goes on.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` inside a transaction or a snapshot, and `closed`.
    public func suspend() throws {
        try capabilities.suspendable?.suspend()
        expirations.cancel()
    }

    /// Opens the files of a suspended database again. Calls work from then on, and observers learn what other processes have
    /// written meanwhile.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has the database open, which then stays suspended and
    ///   can be resumed later; `closed`; errors of ``open(_:options:)`` if the files were changed meanwhile.
    public func resume() throws { try capabilities.suspendable?.resume() }

    /// Whether the database is suspended.
    public var isSuspended: Bool { capabilities.suspendable?.isSuspended ?? false }

    /// Runs a closure while no other process uses the files of the database, the indexes included.
    package func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
        guard let suspendable = capabilities.suspendable else { return try body() }
        return try suspendable.whileOpen(body)
    }

    /// What the database does when its files are closed and opened again.
    var suspensionHooks: SuspendableEngine.Hooks {
        SuspendableEngine.Hooks(
            owner: { [weak self] in self },
            willClose: { [weak self] in self?.closeCompanionFiles() },
            hasOpened: { [weak self] engine in try self?.readAgain(from: engine) },
            announce: { [weak self] in self?.announceOthers() })
    }

    private func closeCompanionFiles() {
        for holder in companions.withLock({ $0.values.compactMap { $0 as? any FileHolder } }) { holder.closeFiles() }
    }

    /// Reads again what is kept in memory, since another process may have written.
    private func readAgain(from engine: any StorageEngine) throws {
        let hasJournal = try engine.read { try $0.setting(Self.journalSetting) } != nil
        if hasJournal == (pendingCache != nil) {
            try pendingCache?.readAgain(from: engine)
        } else {
            // Another process has switched it.
            pendingCache?.bell.end()
            let cache = hasJournal ? try PendingCache(reading: engine) : nil
            pendingState.withLock { $0 = cache }
        }
        try clocks.readAgain(from: engine)
        designChanges.markPending()
        designChanges.commit()
        settingsChanges.markChanged()
        sizeCount.withLock { $0 = nil }
        let sequence = try engine.read { try $0.lastSequence }
        newest.withLock { $0.follow(sequence) }
    }

    private func announceOthers() {
        changeBell.ring(at: newest.withLock { $0.sequence.number })
        pendingCache?.announce()
        do { try scheduleExpiration() } catch { warn("can't read when documents expire: \(error)") }
    }
}

// MARK: - Leases

/// Jobs of a database that several nodes share.
extension Database {
    /// The leases of the database's jobs; `nil` where one process has the database, so that its jobs need none.
    package var leases: (any JobLeases)? { capabilities.leasing?.leases }

    /// Runs a closure whose writes are committed together, and only while a lease is this node's; `nil` needs none.
    ///
    /// - Throws: ``DatabaseError`` with code `conflict` if the lease is another node's or has run out, and what
    ///   ``transaction(_:)`` throws.
    @discardableResult
    package func transaction<Result>(under lease: JobLease?, _ body: () throws -> Result) throws -> Result {
        let isPart = engine.isWriting
        return try log.measure(.write, logMetadata) {
            try engine.hold { writer in
                if let lease { try capabilities.leasing?.require(lease) }
                return try isPart ? writer.part(body) : body()
            }
        }
    }
}
