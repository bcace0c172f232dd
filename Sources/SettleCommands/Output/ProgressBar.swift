internal import Settle

/// Shows the progress of a long operation on a terminal; other outputs show nothing.
///
///     Importing ██████████████░░░░░░░░░░  58%  34,871 documents  27,900/s  19.8 of 34.2 MB
final class ProgressBar {
    private let console: Console
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant?
    private let isShown: Bool

    init(_ console: Console) {
        self.console = console
        start = clock.now
        isShown = console.errorTerminal.isTerminal && !console.isQuiet && !console.isJSON
    }

    var elapsed: Duration { clock.now - start }

    /// Shows the state, at most ten times a second.
    func update(_ label: String, fraction: Double?, _ details: @autoclosure () -> String) {
        guard isShown else { return }
        let now = clock.now
        if let last, now - last < .milliseconds(100) { return }
        last = now
        let line = Self.line(label, fraction: fraction, details(), width: console.errorTerminal.width)
        try? console.errors.write("\r" + line + "\u{1B}[K")
        try? console.errors.flush()
    }

    /// Removes the bar.
    func finish() {
        guard isShown, last != nil else { return }
        last = nil
        try? console.errors.write("\r\u{1B}[K")
        try? console.errors.flush()
    }

    /// The bar as text, one column narrower than the terminal. If there is not enough space, the bar itself is left
    /// out first.
    static func line(_ label: String, fraction: Double?, _ details: String, width: Int) -> String {
        let share = fraction.map { min(max($0, 0), 1) }
        let percent = share.map { "\(Int($0 * 100))%" } ?? ""
        let text = [percent, details].filter { !$0.isEmpty }.joined(separator: "  ")
        let room = width - 1 - label.count - text.count - 3
        guard let share, room >= 6 else { return String("\(label)  \(text)".prefix(max(width - 1, 0))) }
        let length = min(room, 30)
        let done = Int(Double(length) * share)
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: length - done)
        return "\(label) \(bar)  \(text)"
    }
}

extension ProgressBar {
    /// Shows the progress of an index build, and stops the build if the user interrupts.
    static func indexing(
        _ console: Console, _ job: (_ report: (_ done: Int, _ total: Int) throws -> Void) throws -> Void
    ) throws {
        let bar = ProgressBar(console)
        defer { bar.finish() }
        try job { done, total in
            bar.update(
                "Indexing", fraction: Double(done) / Double(max(total, 1)),
                "\(Quantity.grouped(done)) of \(Quantity.of(total, "change"))")
            try Interruption.check()
        }
    }
}

extension ProgressBar {
    /// Runs a long operation of the database with a progress bar, and stops it if the user interrupts.
    func watch<Result>(
        _ label: String, _ job: ((MaintenanceProgress) throws -> Void) throws -> Result
    ) throws -> Result {
        Interruption.watch()
        defer { finish() }
        return try job { progress in
            update(
                label, fraction: Double(progress.completed) / Double(max(progress.total, 1)),
                "\(progress.phase)  \(Quantity.grouped(progress.completed)) of \(Quantity.grouped(progress.total))")
            try Interruption.check()
        }
    }
}
