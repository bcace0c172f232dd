/// The progress of a long operation.
public struct MaintenanceProgress: Sendable, Hashable {
    /// The current phase, in a word or two.
    public let phase: String
    /// The completed part of this phase.
    public let completed: Int
    /// The total of this phase; at least `completed`.
    public let total: Int

    init(_ phase: String, _ completed: Int, of total: Int) {
        self.phase = phase
        self.completed = completed
        self.total = max(total, completed)
    }
}
