internal import SettleCore
internal import SettlePlatform

extension Database {
    /// Finishes the calls that run, closes all files, and leaves the database to other processes, until
    /// ``resume()``.
    ///
    ///     task.expirationHandler = { try? store.suspend() }      // the system is about to suspend the app
    ///
    /// It waits for running transactions and snapshots; acknowledged writes are on the disk, according to
    /// ``DatabaseOptions/durability``. Later calls throw ``DatabaseErrorCode/suspended``; observers, live queries and
    /// automatic settling wait. Suspending again does nothing. Stop replications first: their calls fail meanwhile,
    /// and they retry. A database without files, in memory for example, continues to work.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` inside a transaction or a snapshot, and `closed`.
    public func suspend() throws {
        guard let suspendable = capabilities.suspendable else { return }
        try suspendable.suspend()
    }

    /// Opens the files of a suspended database again. Calls work from then on, and observers get the changes that
    /// other processes have made meanwhile.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has the database open; it then stays
    ///   suspended and can be resumed later. Also `closed`, and errors of ``open(_:options:)`` if the files were
    ///   changed meanwhile.
    public func resume() throws {
        guard let suspendable = capabilities.suspendable else { return }
        let wasSuspended = suspendable.isSuspended
        try suspendable.resume()
        if wasSuspended { resumeExpiration() }
    }

    /// Whether the database is suspended.
    public var isSuspended: Bool { capabilities.suspendable?.isSuspended ?? false }

    /// Runs a closure while no other process uses the files of the database, including the indexes.
    package func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
        guard let suspendable = capabilities.suspendable else { return try body() }
        return try suspendable.whileOpen(body)
    }

    /// The actions of the database when its files are closed and opened again.
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

    /// Reads cached data again, since another process may have written.
    private func readAgain(from engine: any StorageEngine) throws {
        let hasJournal = try engine.read { try $0.setting(Self.journalSetting) } != nil
        if hasJournal == (pendingCache != nil) {
            try pendingCache?.readAgain(from: engine)
        } else {
            // Another process has switched the journal on or off.
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
        resumeExpiration()
    }

    private func resumeExpiration() {
        do { try scheduleExpiration() } catch { warn("can't read when documents expire: \(error)") }
    }
}

// MARK: - Leases

/// Jobs of a database that several nodes share.
extension Database {
    /// The leases of the database's jobs; `nil` if only one process uses the database, so that its jobs need no
    /// leases.
    package var leases: (any JobLeases)? { capabilities.leasing?.leases }

    /// Runs a closure whose writes are committed together, and only while this node has a lease; `nil` requires no
    /// lease.
    ///
    /// - Throws: ``DatabaseError`` with code `conflict` if another node has the lease or it has expired, and errors
    ///   of ``transaction(_:)``.
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
