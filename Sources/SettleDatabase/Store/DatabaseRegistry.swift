#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The databases this process has open, by folder, so that opening one twice gives one object.
final class DatabaseRegistry: Sendable {
    static let shared = DatabaseRegistry()

    private struct Entry: Sendable {
        weak var database: Database?
    }

    /// By the bytes of the folder's path, for that is what the system tells folders apart by.
    private let entries = Guarded<[[UInt8]: Entry]>([:])

    /// Gives the open database of a folder, or opens it; one thread at a time.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        try entries.withLock { entries in
            if let open = entries[Array(files.folder.utf8)]?.database {
                if isNew { throw Database.alreadyExists(files) }
                return open
            }
            let database = try Self.retrying(while: entries[Array(files.folder.utf8)] != nil, make)
            entries[Array(files.folder.utf8)] = Entry(database: database)
            return database
        }
    }

    /// Opens a database; where this process had it open, its last holder may just be letting go on another thread, so
    /// for up to a second a lock that is held is asked for again.
    private static func retrying(while mayBeEnding: Bool, _ make: () throws -> Database) throws -> Database {
        var attempts = mayBeEnding ? 1000 : 0
        while true {
            do { return try make() } catch let error as DatabaseError where error.code == .inUse && attempts > 0 {
                attempts -= 1
                usleep(1000)
            }
        }
    }

    /// Whether a folder's database is open.
    func isOpen(_ files: DatabaseFiles) -> Bool { entries.withLock { $0[Array(files.folder.utf8)]?.database != nil } }

    /// Forgets a database that was closed and lets go of its lock, so that nobody finds one without the other.
    func forget(_ database: Database, _ release: () -> Void) {
        guard let path = database.path else { return }
        entries.withLock { entries in
            if entries[Array(path.utf8)]?.database === database { entries[Array(path.utf8)] = nil }
            release()
        }
    }
}
