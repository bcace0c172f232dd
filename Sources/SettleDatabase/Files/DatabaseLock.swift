internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The lock that lets one process have a database open; the system lets go of it when the process ends, however it ends.
final class DatabaseLock: Sendable {
    private let descriptor: Int32
    private let isReleased = Mutex(false)

    /// - Throws: ``DatabaseError`` with code `inUse` when another process has it.
    init(_ files: DatabaseFiles) throws {
        descriptor = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        if descriptor < 0 { throw systemError("opening \(files.lock)") }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let isTaken = errno == EWOULDBLOCK
            let error = isTaken ? nil : systemError("locking \(files.lock)")
            close(descriptor)
            throw error
                ?? DatabaseError(
                    .inUse, "another process has \(files.folder) open; a database belongs to one process at a time")
        }
    }

    deinit { release() }

    /// Lets go of the lock; nothing happens the second time.
    func release() {
        isReleased.withLock { isReleased in
            if !isReleased { close(descriptor) }
            isReleased = true
        }
    }
}
