internal import SettleDatabase
internal import SettlePlatform

/// One wait for a notification of a database, ended by the notification or by cancellation.
final class NoticeGate: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Bool, Never>?
        var notice: Int?
        var isOver = false
    }

    private let state = Guarded(State())

    /// Stores the waiting continuation.
    func open(_ continuation: CheckedContinuation<Bool, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { continuation.resume(returning: false) }
    }

    /// Stores the number of the notification's registration, or removes it if the wait is over already.
    func note(_ notice: Int, of database: Database) {
        let isOver = state.withLock { state in
            state.notice = notice
            return state.isOver
        }
        if isOver { database.cancelNotice(notice) }
    }

    /// Ends the wait.
    func answer(_ isNews: Bool) {
        let continuation = state.withLock { state in
            state.isOver = true
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: isNews)
    }

    /// Ends the wait without a notification.
    func cancel(_ database: Database) {
        answer(false)
        if let notice = state.withLock(\.notice) { database.cancelNotice(notice) }
    }
}
