import Foundation
import Settle
import SettlePlatform

/// A clock that is set manually, in milliseconds.
final class ManualTime: Sendable {
    private let time = Guarded<Int64>(0)

    /// The clock's time.
    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Options of a database that uses this clock and has a journal.
    var options: DatabaseOptions {
        var options = DatabaseOptions()
        options.journal = true
        options.now = { Date(milliseconds: self.now) }
        options.warn = { _ in }
        return options
    }
}

extension Database {
    /// The pending changes, a line for each document: `UPDATE a n=2@30 text=-@20`.
    var pendingLines: [String] { get throws { try journal?.pending.map(\.line) ?? ["no journal"] } }

    /// The journal, a line for each operation: `UPDATE a {"n":1} {"n":2}`.
    func historyLines() throws -> [String] { try journal?.history().map(\.line) ?? ["no journal"] }
}

extension PendingChange {
    /// The change in one line.
    var line: String {
        let changes = attributes.map { "\($0.name)=\($0.value?.description ?? "-")@\($0.time.milliseconds)" }
        return ([operation.rawValue, documentID.string] + changes).joined(separator: " ")
    }
}

extension JournalEntry {
    /// The entry in one line.
    var line: String {
        "\(operation.rawValue) \(documentID) \(old?.body.description ?? "-") \(new?.body.description ?? "-")"
    }
}
