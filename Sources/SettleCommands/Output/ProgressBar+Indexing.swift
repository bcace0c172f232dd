extension ProgressBar {
    /// Shows how far an index is while a job builds it, and ends the job when the user interrupts.
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
