/// How far a long job has come.
public struct MaintenanceProgress: Sendable, Hashable {
    /// What the job is doing, in a word or two.
    public let phase: String
    /// How much of this phase is done.
    public let completed: Int
    /// How much of this phase there is; at least what is completed.
    public let total: Int

    init(_ phase: String, _ completed: Int, of total: Int) {
        self.phase = phase
        self.completed = completed
        self.total = max(total, completed)
    }
}
