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

/// A replication that is kept, as it is shown.
struct KeptReplication {
    let id: String
    let source: String
    let target: String
    let isContinuous: Bool
    let state: String
    /// Why it does not do what it should.
    var problem: String?

    var json: JSON {
        var members: JSONObject = [
            "id": .string(id), "source": .string(source), "target": .string(target), "continuous": .bool(isContinuous),
            "state": .string(state),
        ]
        members["problem"] = problem.map(JSON.string)
        return .object(members)
    }
}
