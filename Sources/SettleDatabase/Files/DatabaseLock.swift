#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The lock that lets one process have a database open; the system lets go of it when the process ends, however it ends.
final class DatabaseLock: Sendable {
    /// The locked file; `nil` once the lock was let go.
    private let locked: Guarded<Int32?>

    /// - Throws: ``DatabaseError`` with code `inUse` when another process has it.
    init(_ files: DatabaseFiles) throws {
        let descriptor = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        if descriptor < 0 { throw systemError("opening \(files.lock)") }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let isTaken = errno == EWOULDBLOCK
            let error = isTaken ? nil : systemError("locking \(files.lock)")
            close(descriptor)
            throw error
                ?? DatabaseError(
                    .inUse, "another process has \(files.folder) open; a database belongs to one process at a time")
        }
        locked = Guarded(descriptor)
    }

    deinit { release() }

    /// Lets another take the lock.
    ///
    /// Unlocked by name, for a process that is just being started has a copy of the descriptor until it runs its own
    /// program; closing ours alone would leave the lock taken until then.
    func release() {
        locked.withLock { descriptor in
            if let open = descriptor {
                flock(open, LOCK_UN)
                close(open)
            }
            descriptor = nil
        }
    }
}
