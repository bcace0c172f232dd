/// The lock that lets one process have a database open.
struct DatabaseLock: Sendable {
    private let lock: FileLock

    /// - Throws: ``DatabaseError`` with code `inUse` when another process has it.
    init(_ files: DatabaseFiles) throws {
        guard let lock = try FileLock(path: files.lock) else {
            throw DatabaseError(
                .inUse, "another process has \(files.folder) open; a database belongs to one process at a time")
        }
        self.lock = lock
    }

    /// Lets another take the lock, also when this was not the only copy.
    func release() { lock.release() }
}
