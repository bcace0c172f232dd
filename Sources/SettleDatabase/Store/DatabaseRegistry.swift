internal import SettlePlatform

/// The databases this process has open, by folder, so that opening one twice gives one object.
///
/// What takes time, opening, closing and removing, happens outside the lock: it keeps those waiting who want the same folder,
/// and nobody else.
final class DatabaseRegistry: Sendable {
    static let shared = DatabaseRegistry()

    private struct Entry: Sendable {
        weak var database: Database?
        /// Whether a thread is opening, closing or removing it.
        var isBusy = false
    }

    /// By the bytes of the folder's path, for that is what the system tells folders apart by.
    private let entries = Monitor<[[UInt8]: Entry]>([:])
    /// For how many seconds a folder is waited for that another thread closes.
    private static let patience = 60.0

    /// Gives the open database of a folder, or opens it; of those who want one folder one thread at a time.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        let (open, wasKnown) = try take(files, unlessOpen: true)
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

    /// Closes the database of a folder if this process has it open, and runs a closure with its lock, while nobody else here
    /// can open it.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another process has it, and what the closures throw.
    func remove(_ files: DatabaseFiles, check: () throws -> Void, _ body: () throws -> Void) throws {
        let (open, wasKnown) = try take(files, unlessOpen: false)
        defer { leave(files, nil) }
        try check()
        open?.close()
        let lock = try Self.retrying(if: wasKnown) { try DatabaseLock(files) }
        defer { lock.release() }
        try body()
    }

    /// Hands a database out no more, for it is being closed.
    ///
    /// - Returns: Whether the folder is kept until ``forget(_:)`` is called.
    func letGo(_ database: Database) -> Bool {
        guard let path = database.path else { return false }
        return entries.withLock { entries in
            let key = Array(path.utf8)
            guard let entry = entries[key], entry.database === database, !entry.isBusy else { return false }
            entries[key] = Entry(isBusy: true)
            return true
        }
    }

    /// Forgets a database that is closed and whose lock is free.
    func forget(_ database: Database) {
        guard let path = database.path else { return }
        entries.update { $0[Array(path.utf8)] = nil }
    }

    /// Waits until no other thread has a folder, and takes it for this one; one that is open is given and not taken if that is
    /// wanted.
    private func take(_ files: DatabaseFiles, unlessOpen: Bool) throws -> (open: Database?, wasKnown: Bool) {
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

    /// Lets others have a folder, with the database that was opened there.
    private func leave(_ files: DatabaseFiles, _ database: Database?) {
        entries.update { $0[Array(files.folder.utf8)] = database.map { Entry(database: $0) } }
    }

    /// Does what needs a database's lock. Where this process had it open, another thread may just be letting go of it: for up
    /// to a second a lock that is held is asked for again.
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
