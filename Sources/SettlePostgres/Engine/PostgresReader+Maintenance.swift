internal import SettleDatabase

extension PostgresReader {
    /// Does a task of maintenance, which only reads: space is given back by PostgreSQL itself.
    func report(on task: MaintenanceTask) throws -> MaintenanceReport {
        var report = MaintenanceReport()
        switch task {
        case .reclaimSpace: report.isDurable = true
        case .check:
            for (statement, problem) in [
                (PostgresStatement.wrongFlags, "rows have flags, sequences or digests that never were"),
                (.wrongCounts, "kept counts are not what the documents add up to"),
                (.sumsAtOdds, "sums of kept counts are not what the counts add up to"),
            ] {
                let count = try ask(statement).integer(0, 0)
                if count > 0 { report.problems.append("\(count) \(problem)") }
            }
        case .measure:
            let rows = try count(.documents(DocumentRange()))
            report.bytes = try ask(.size).integer(0, 0) * Int64(rows)
        case .weigh:
            let sums = try ask(.weigh)
            report.payload = StoragePayload(
                winners: sums.integer(0, 0), apart: sums.integer(0, 1), attachments: sums.integer(0, 2),
                attachmentFiles: sums.integer(0, 3))
        }
        return report
    }
}
