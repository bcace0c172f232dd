internal import SettlePlatform

extension Database {
    static var journalSetting: String { "journal" }

    /// Switches the journal on or off while the database is open. ``DatabaseOptions/journal`` does the same when it is opened.
    ///
    ///     try database.setJournal(true)
    ///
    /// Operations are recorded from now on. Switching the journal off deletes its entries, and ends observations of pending
    /// changes; the documents stay. A ``Journal`` that was asked for before must not be used after it. Call it outside of
    /// transactions.
    ///
    /// - Parameter isOn: Whether to keep a journal; what it is already changes nothing.
    /// - Throws: ``DatabaseError`` with code `invalid` if the storage keeps no journal, as PostgreSQL, and if the storage fails.
    public func setJournal(_ isOn: Bool) throws {
        try Self.check(isOn, engine)
        let fresh = isOn ? try PendingCache(reading: engine) : nil
        let before = Guarded<PendingCache?>(nil)
        do {
            let isChanged = try engine.commit { [pendingState] writer in
                guard (try writer.setting(Self.journalSetting) != nil) != isOn else { return false }
                try Self.store(isOn, with: writer)
                // The writes that come after this one look here, in the same batch too.
                let old = pendingState.withLock { state in
                    defer { state = fresh }
                    return state
                }
                before.withLock { $0 = old }
                return true
            }
            if isChanged { before.withLock(\.self)?.notifier.finish() }
        } catch {
            let old = before.withLock(\.self)
            pendingState.withLock { if $0 === fresh { $0 = old } }
            throw error
        }
    }

    /// Switches the journal on or off according to the options, or the file if the options don't say, and reads it.
    static func openJournal(_ isWanted: Bool?, _ engine: any StorageEngine) throws -> PendingCache? {
        try check(isWanted == true, engine)
        let isOn = try engine.read { try $0.setting(journalSetting) } != nil
        if let isWanted, isWanted != isOn { try engine.commit { try store(isWanted, with: $0) } }
        return isWanted ?? isOn ? try PendingCache(reading: engine) : nil
    }

    /// Writes the journal; `nil` if it is off.
    var journalRecorder: JournalRecorder? { pendingCache.map { JournalRecorder(cache: $0, now: options.milliseconds) } }

    private static func check(_ isWanted: Bool, _ engine: any StorageEngine) throws {
        guard isWanted, !engine.keepsJournal else { return }
        throw DatabaseError(
            .invalid, "this storage keeps no journal of local changes, which is a device's: open it without `journal`")
    }

    private static func store(_ isOn: Bool, with writer: any StorageWriter) throws {
        try writer.setSetting(journalSetting, to: isOn ? "on" : nil)
        if !isOn { try writer.removeJournal() }
    }
}
