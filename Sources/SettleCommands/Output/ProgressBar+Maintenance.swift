internal import Settle

extension ProgressBar {
    /// Runs a long job of the database, shows how far it is, and ends it when the user interrupts.
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
