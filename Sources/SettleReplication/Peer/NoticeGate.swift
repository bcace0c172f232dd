internal import SettleDatabase
internal import SettlePlatform

/// One wait for a notification of a database, ended by the notification or by cancellation.
final class NoticeGate: Sendable {
    private let end = Once<Bool>()
    private let state = Guarded((notice: Int?.none, isOver: false))

    /// Waits for the end; called once.
    func value() async -> Bool { await end.value() }

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
        state.withLock { $0.isOver = true }
        end.answer(isNews)
    }

    /// Ends the wait without a notification.
    func cancel(_ database: Database) {
        answer(false)
        if let notice = state.withLock(\.notice) { database.cancelNotice(notice) }
    }
}
