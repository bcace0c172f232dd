internal import Settle

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
