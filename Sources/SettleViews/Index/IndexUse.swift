internal import SettleDatabase
internal import SettlePlatform

/// How many use an index now, and whether its files are to be closed after them.
package final class IndexUse: Sendable {
    private struct State {
        var users = 0
        var isDue = false
        var isRemoved = false
    }

    private let state = Guarded(State())
    /// The open indexes of the database; `nil` after it was closed.
    weak let openIndexes: OpenIndexes?

    init(among openIndexes: OpenIndexes) { self.openIndexes = openIndexes }

    /// Counts a user.
    func begin() {
        state.withLock { state in
            state.users += 1
            state.isDue = false
        }
    }

    /// Takes a user away, and closes the files after the last one if they are due.
    func end(_ close: () -> Void) {
        state.withLock { state in
            state.users -= 1
            guard state.users == 0, state.isDue else { return }
            state.isDue = false
            close()
        }
    }

    /// Closes the files if nobody uses them; else they are due.
    func release(_ close: () -> Void) {
        state.withLock { state in
            // The path of a removed index leads to no file any more, so what is open stays open for its readers.
            if state.isRemoved { return }
            if state.users == 0 { close() } else { state.isDue = true }
        }
    }

    /// Notes that the file was removed.
    func remove() {
        state.withLock { state in
            state.isRemoved = true
            state.isDue = false
        }
    }
}
