internal import Synchronization

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

    private let entries = Mutex<[String: Entry]>([:])

    /// Gives the open database of a folder, or opens it; one thread at a time.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        try entries.withLock { entries in
            if let open = entries[files.folder]?.database {
                if isNew { throw Database.alreadyExists(files) }
                return open
            }
            let database = try Self.retrying(while: entries[files.folder] != nil, make)
            entries[files.folder] = Entry(database: database)
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
    func isOpen(_ files: DatabaseFiles) -> Bool { entries.withLock { $0[files.folder]?.database != nil } }

    /// Forgets a database that was closed and lets go of its lock, so that nobody finds one without the other.
    func forget(_ database: Database, _ release: () -> Void) {
        guard let path = database.path else { return }
        entries.withLock { entries in
            if entries[path]?.database === database { entries[path] = nil }
            release()
        }
    }
}
