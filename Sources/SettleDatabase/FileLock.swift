internal import SettlePlatform

/// A lock on a file. One process at a time holds it, or several that share it; the system releases it when the
/// process ends, even after a crash.
package final class FileLock: Sendable {
    private let path: String
    /// The locked file; `nil` once the lock was released.
    private let locked: Guarded<Int32?>

    /// Takes the lock, and creates the file if it does not exist; `nil` if another process has it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isShared: Whether other processes may share the lock.
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    package init?(path: String, isShared: Bool = false) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw systemError("opening \(path)") }
        if flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            let error = errno == EWOULDBLOCK ? nil : systemError("locking \(path)")
            close(descriptor)
            if let error { throw error }
            return nil
        }
        self.path = path
        locked = Guarded(descriptor)
    }

    /// Whether the locked file was deleted, or another one is at its path now.
    var isGone: Bool {
        let number = locked.withLock { descriptor -> UInt64? in
            var status = stat()
            guard let descriptor, fstat(descriptor, &status) == 0 else { return nil }
            return UInt64(status.st_ino)
        }
        return number != nil && FileStatus(path: path)?.number != number
    }

    /// Replaces the locked file's content with a line for other processes to read.
    package func writeLine(_ line: String) {
        locked.withLock { descriptor in
            guard let descriptor else { return }
            let bytes = Array("\(line)\n".utf8)
            if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, bytes, bytes.count, 0) }
        }
    }

    deinit { release() }

    /// Releases the lock.
    ///
    /// It unlocks explicitly instead of only closing the descriptor. A child process that is just being started has
    /// a copy of the descriptor until it executes its own program, and would keep the lock until then.
    package func release() {
        locked.withLock { descriptor in
            if let open = descriptor {
                flock(open, LOCK_UN)
                close(open)
            }
            descriptor = nil
        }
    }
}

// MARK: - DatabaseLock

/// The lock that ensures that only one process at a time has a database open.
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

    /// Whether the database was deleted, and maybe made anew, while this process has it.
    var isGone: Bool { lock.isGone }

    /// Releases the lock, even if there are other copies of this value.
    func release() { lock.release() }
}
