internal import SettleDatabase
internal import SettlePlatform

/// The number of current users of an index, and whether its files are closed after them.
package final class IndexUse: Sendable {
    private struct State {
        var users = 0
        var isDue = false
        var isRemoved = false
    }

    private let state = Guarded(State())
    /// The open indexes of the database; `nil` after it was closed.
    weak let openIndexes: OpenIndexes?
    /// The lock of the folder, for as long as the index uses files there.
    private let lock: FileLock?

    init(at place: IndexPlace) { (openIndexes, lock) = (place.openIndexes, place.lock) }

    /// Counts a user.
    func begin() {
        state.withLock { state in
            state.users += 1
            state.isDue = false
        }
    }

    /// Removes a user, and closes the files after the last one if they are due.
    func end(_ close: () -> Void) {
        state.withLock { state in
            state.users -= 1
            guard state.users == 0, state.isDue else { return }
            state.isDue = false
            close()
        }
    }

    /// Closes the files if they are unused; otherwise marks them as due.
    func release(_ close: () -> Void) {
        state.withLock { state in
            // The path of a removed index leads to no file any more, so its open files stay open for their readers.
            if state.isRemoved { return }
            if state.users == 0 { close() } else { state.isDue = true }
        }
    }

    /// Records that the file was removed.
    func remove() {
        state.withLock { state in
            state.isRemoved = true
            state.isDue = false
        }
    }
}
