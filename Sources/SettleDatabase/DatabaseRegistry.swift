internal import SettlePlatform

/// The databases that this process has open, by folder, so that opening one twice returns the same object.
///
/// Opening, closing and removing take time and run outside the lock, so that only callers for the same folder wait.
final class DatabaseRegistry: Sendable {
    static let shared = DatabaseRegistry()

    struct Entry: Sendable {
        weak var database: Database?
        /// Whether a thread is opening, closing or removing the database.
        var isBusy = false
    }

    /// The entries by the bytes of the folder's path, because the file system compares bytes.
    let entries = Monitor<[[UInt8]: Entry]>([:])
    /// The seconds for which a call waits until another thread has closed a folder.
    private static let patience = 60.0

    /// Returns the open database of a folder, or opens it; concurrent calls for one folder run one after the other.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        let (open, wasKnown) = try reserve(files, unlessOpen: true)
        if let open {
            if isNew { throw Database.alreadyExists(files) }
            return open
        }
        var made: Database?
        defer { leave(files, made) }
        let database = try Self.retrying(if: wasKnown, make)
        made = database
        return database
    }

    /// Closes the database of a folder if this process has it open, and runs a closure that holds the database's
    /// lock, while no other thread can open it.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has it open, and errors of the closures.
    func remove(_ files: DatabaseFiles, check: () throws -> Void, _ body: () throws -> Void) throws {
        let (open, wasKnown) = try reserve(files, unlessOpen: false)
        defer { leave(files, nil) }
        try check()
        open?.close()
        let lock = try Self.retrying(if: wasKnown) { try DatabaseLock(files) }
        defer { lock.release() }
        try body()
    }

    /// Stops returning a database that is being closed.
    ///
    /// - Returns: Whether the folder stays reserved until ``forget(_:)`` is called.
    func letGo(_ database: Database) -> Bool {
        guard let path = database.path else { return false }
        return entries.withLock { entries in
            let key = Array(path.utf8)
            guard let entry = entries[key], entry.database === database, !entry.isBusy else { return false }
            entries[key] = Entry(isBusy: true)
            return true
        }
    }

    /// Removes the entry of a database that is closed and whose lock is free.
    func forget(_ database: Database) {
        guard let path = database.path else { return }
        entries.update { $0[Array(path.utf8)] = nil }
    }

    /// Removes the entry of a database that was released and whose lock is free, if its folder is not in use again.
    func forgetReleased(_ path: String) {
        let key = Array(path.utf8)
        entries.withLock { entries in
            if let entry = entries[key], entry.database == nil, !entry.isBusy { entries[key] = nil }
        }
    }

    /// Waits until no other thread uses a folder, and reserves it for this one; with `unlessOpen`, an open database is
    /// returned without a reservation.
    private func reserve(_ files: DatabaseFiles, unlessOpen: Bool) throws -> (open: Database?, wasKnown: Bool) {
        let key = Array(files.folder.utf8)
        let taken = entries.wait(seconds: Self.patience) { entries -> (Database?, Bool)? in
            let entry = entries[key]
            if entry?.isBusy == true { return nil }
            if unlessOpen, let open = entry?.database { return (open, true) }
            entries[key] = Entry(isBusy: true)
            return (entry?.database, entry != nil)
        }
        guard let taken else {
            throw DatabaseError(
                .inUse,
                "\(files.folder) is still being closed by this process, whose last transaction takes long; retry")
        }
        return taken
    }

    /// Ends the reservation of a folder, and stores the database that was opened there.
    private func leave(_ files: DatabaseFiles, _ database: Database?) {
        entries.update { $0[Array(files.folder.utf8)] = database.map { Entry(database: $0) } }
    }

    /// The open databases in a folder.
    func databases(in folder: String) -> [Database] {
        let prefix = Array((DatabaseFiles(folder: folder).folder + "/").utf8)
        return entries.withLock { entries in
            entries.filter { $0.key.starts(with: prefix) }.values.compactMap(\.database)
        }
    }

    /// Runs a closure that needs a database's lock. If this process had it open, another thread may be releasing it, so a held
    /// lock is retried for up to a second.
    private static func retrying<Result>(if wasKnown: Bool, _ make: () throws -> Result) throws -> Result {
        var attempts = wasKnown ? 1000 : 0
        while true {
            do { return try make() } catch let error as DatabaseError where error.code == .inUse && attempts > 0 {
                attempts -= 1
                usleep(1000)
            }
        }
    }
}
