internal import Settle

/// Who keeps replications: a server, or the folder of a database.
protocol ReplicationKeeper {
    /// All of them.
    func all() throws -> [KeptReplication]

    /// Keeps another one, as the arguments say; returns its id.
    func add() throws -> String

    /// Has one wait.
    func pause(_ id: String) throws

    /// Lets one that waits go on.
    func resume(_ id: String) throws

    /// Forgets one.
    func remove(_ id: String) throws
}
