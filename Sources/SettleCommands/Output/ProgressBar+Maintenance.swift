internal import Settle

extension ProgressBar {
    /// Shows how far a job of the database is.
    func update(_ label: String, _ progress: MaintenanceProgress) {
        update(
            label, fraction: Double(progress.completed) / Double(max(progress.total, 1)),
            "\(progress.phase)  \(Quantity.grouped(progress.completed)) of \(Quantity.grouped(progress.total))")
    }
}
