/// The lock that ensures that one process at a time has a database open.
struct DatabaseLock: Sendable {
    private let lock: FileLock

    /// - Throws: ``DatabaseError`` with code `inUse` if another process has it.
    init(_ files: DatabaseFiles) throws {
        guard let lock = try FileLock(path: files.lock) else {
            throw DatabaseError(
                .inUse, "another process has \(files.folder) open; a database belongs to one process at a time")
        }
        self.lock = lock
    }

    /// Releases the lock, even if there are other copies of this value.
    func release() { lock.release() }
}
