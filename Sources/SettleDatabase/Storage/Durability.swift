/// What a write that was acknowledged survives.
public enum Durability: String, Sendable, CaseIterable {
    /// Every commit is forced to the disk before it is acknowledged: it survives a crash of the program, of the system,
    /// and a loss of power. The choice for a server.
    case full
    /// The log is forced to the disk at checkpoints only: a write survives a crash of the program, `kill -9` included.
    /// A crash of the system or a loss of power may take the last ones back, whole transactions from the newest
    /// on, and never harms the file. The default of an embedded database.
    case normal
}
