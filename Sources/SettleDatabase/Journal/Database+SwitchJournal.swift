extension Database {
    static var journalSetting: String { "journal" }

    /// Switches the journal on or off according to the options, or the file if the options don't say, and reads it.
    ///
    /// Switching it off deletes its entries; the documents stay unchanged.
    static func openJournal(_ isWanted: Bool?, _ engine: any StorageEngine) throws -> PendingCache? {
        if isWanted == true, !engine.keepsJournal {
            throw DatabaseError(
                .invalid,
                "this storage keeps no journal of local changes, which is a device's: open it without `journal`")
        }
        let isOn = try engine.read { try $0.setting(journalSetting) } != nil
        if let isWanted, isWanted != isOn {
            try engine.commit { writer in
                try writer.setSetting(journalSetting, to: isWanted ? "on" : nil)
                if !isWanted { try writer.removeJournal() }
            }
        }
        return isWanted ?? isOn ? try PendingCache(reading: engine) : nil
    }

    /// Writes the journal; `nil` if it is off.
    var journalRecorder: JournalRecorder? { pendingCache.map { JournalRecorder(cache: $0, now: options.milliseconds) } }
}
