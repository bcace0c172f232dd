internal import SettleDatabase
internal import SettlePlatform

/// One wait for a notification of a database, ended by the notification or by cancellation.
final class NoticeGate: Sendable {
    private let end = Once<Bool>()
    private let notice = Guarded(Int?.none)

    /// Waits for the end; called once.
    func value() async -> Bool { await end.value() }

    /// Stores the number of the notification's registration, or removes it if the wait is over already.
    func note(_ notice: Int, of database: Database) {
        self.notice.withLock { $0 = notice }
        if end.isAnswered { database.cancelNotice(notice) }
    }

    /// Ends the wait.
    func answer(_ isNews: Bool) { end.answer(isNews) }

    /// Ends the wait without a notification.
    func cancel(_ database: Database) {
        answer(false)
        if let notice = notice.withLock(\.self) { database.cancelNotice(notice) }
    }
}
