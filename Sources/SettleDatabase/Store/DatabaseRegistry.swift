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
        var isClosing = false
    }

    /// By the bytes of the folder's path, for that is what the system tells folders apart by.
    private let entries = Guarded<[[UInt8]: Entry]>([:])

    /// Gives the open database of a folder, or opens it; one thread at a time.
    func open(_ files: DatabaseFiles, isNew: Bool = false, _ make: () throws -> Database) throws -> Database {
        try entries.withLock { entries in
            let key = Array(files.folder.utf8)
            if let open = entries[key]?.database {
                if isNew { throw Database.alreadyExists(files) }
                return open
            }
            let database = try Self.retrying(after: entries[key], make)
            entries[key] = Entry(database: database)
            return database
        }
    }

    /// Takes the lock of a database that nobody here has open; what is just closing it is waited for.
    func lock(_ files: DatabaseFiles) throws -> DatabaseLock {
        try entries.withLock { entries in
            try Self.retrying(after: entries[Array(files.folder.utf8)]) { try DatabaseLock(files) }
        }
    }

    /// Does what needs a database's lock. Where this process had it open, another thread may just be closing it, or
    /// letting go of it: for up to half a minute or a second a lock that is held is asked for again.
    private static func retrying<Result>(after entry: Entry?, _ make: () throws -> Result) throws -> Result {
        var attempts = entry.map { $0.isClosing ? 30_000 : 1000 } ?? 0
        while true {
            do { return try make() } catch let error as DatabaseError where error.code == .inUse && attempts > 0 {
                attempts -= 1
                usleep(1000)
            }
        }
    }

    /// Whether a folder's database is open.
    func isOpen(_ files: DatabaseFiles) -> Bool { entries.withLock { $0[Array(files.folder.utf8)]?.database != nil } }

    /// Hands a database out no more, for it is being closed.
    func letGo(_ database: Database) {
        change(database) { $0 = $0?.database === database ? Entry(isClosing: true) : $0 }
    }

    /// Forgets a database that is closed and whose lock is free.
    func forget(_ database: Database) {
        change(database) { $0 = $0?.isClosing == true ? nil : $0 }
    }

    private func change(_ database: Database, _ body: (inout Entry?) -> Void) {
        guard let path = database.path else { return }
        entries.withLock { body(&$0[Array(path.utf8)]) }
    }
}
