extension Database {
    private static var journalSetting: String { "journal" }

    /// Switches the journal on or off as the options say, or as the file says where they say nothing, and reads it.
    ///
    /// Switching it off forgets what is in it; the documents stay as they are.
    static func openJournal(_ isWanted: Bool?, _ engine: any StorageEngine) throws -> PendingCache? {
        let isOn = try engine.read { try $0.setting(journalSetting) } != nil
        if let isWanted, isWanted != isOn {
            try engine.write { writer in
                try writer.setSetting(journalSetting, to: isWanted ? "on" : nil)
                if !isWanted { try writer.removeJournal() }
            }
        }
        return isWanted ?? isOn ? try PendingCache(reading: engine) : nil
    }

    /// What keeps the journal in a write; `nil` where it is off.
    var journalRecorder: JournalRecorder? { pendingCache.map { JournalRecorder(cache: $0, now: options.now) } }
}
