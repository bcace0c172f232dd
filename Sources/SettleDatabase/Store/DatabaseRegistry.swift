internal import Synchronization

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
            let database = try make()
            entries[files.folder] = Entry(database: database)
            return database
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
