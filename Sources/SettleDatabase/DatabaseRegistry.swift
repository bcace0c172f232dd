internal import SettlePlatform

/// The databases that this process has open, by folder, so that opening one twice returns the same object.
///
/// Opening, closing and removing take time and run outside the lock, so that only callers for the same folder wait.
final class DatabaseRegistry: Sendable {
    static let shared = DatabaseRegistry()

    struct Entry: Sendable {
        weak var database: Database?
        /// The database, also while it is being released; `nil` while a thread opens, closes or removes it.
        let object: ObjectIdentifier?

        /// A folder that a thread uses alone.
        static let reserved = Entry(database: nil, object: nil)

        /// An open database.
        static func open(_ database: Database) -> Entry {
            Entry(database: database, object: ObjectIdentifier(database))
        }
    }

    /// The entries by the bytes of the folder's path, because the file system compares bytes.
    let entries = Monitor<[[UInt8]: Entry]>([:])
    /// The seconds for which a call waits until another thread has closed or released a database.
    private static let patience = 60.0

    /// Returns the open database of a folder, or opens it; concurrent calls for one folder run one after the other.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        if let open = try reserve(files, unlessOpen: true) {
            if isNew { throw Database.alreadyExists(files) }
            return open
        }
        var made: Database?
        defer { leave(files, made) }
        let database = try make()
        made = database
        return database
    }

    /// Closes the database of a folder if this process has it open, and runs a closure that holds the database's
    /// lock, while no other thread can open it.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another process has it open, and errors of the closures.
    func remove(_ files: DatabaseFiles, check: () throws -> Void, _ body: () throws -> Void) throws {
        let open = try reserve(files, unlessOpen: false)
        defer { leave(files, nil) }
        try check()
        open?.close()
        let lock = try DatabaseLock(files)
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
            // The entry may be that of a newer database, which must not be released under the lock.
            guard entries[key]?.object == ObjectIdentifier(database) else { return false }
            entries[key] = .reserved
            return true
        }
    }

    /// Removes the entry of a database that is closed and whose lock is free.
    func forget(_ database: Database) {
        guard let path = database.path else { return }
        entries.update { $0[Array(path.utf8)] = nil }
    }

    /// Removes the entry of a database that was released and whose lock is free. The folder may be reserved by another
    /// thread, or have another database already.
    func forgetReleased(_ object: ObjectIdentifier, _ path: String) {
        let key = Array(path.utf8)
        entries.update { entries in
            if entries[key]?.object == object { entries[key] = nil }
        }
    }

    /// Waits until no other thread uses a folder and no database there is being released, and reserves it for this
    /// thread; with `unlessOpen`, an open database is returned without a reservation.
    ///
    /// - Returns: The open database, if there is one.
    private func reserve(_ files: DatabaseFiles, unlessOpen: Bool) throws -> Database? {
        let key = Array(files.folder.utf8)
        let taken = entries.wait(seconds: Self.patience) { entries -> Database?? in
            let entry = entries[key]
            let open = entry?.database
            if entry != nil, open == nil { return nil }
            if !unlessOpen || open == nil { entries[key] = .reserved }
            return .some(open)
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
        entries.update { $0[Array(files.folder.utf8)] = database.map(Entry.open) }
    }

    /// The open databases in a folder.
    func databases(in folder: String) -> [Database] {
        let prefix = Array((DatabaseFiles(folder: folder).folder + "/").utf8)
        return entries.withLock { entries in
            entries.filter { $0.key.starts(with: prefix) }.values.compactMap(\.database)
        }
    }
}
