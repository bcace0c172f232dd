internal import SettleCore
internal import SettleDatabase

/// CouchDB's set-up of a cluster, as far as it makes sense for a server that is one node.
enum ClusterEndpoints {
    /// The databases that a server has once it is set up.
    private static let databases = ["_users", "_replicator"]

    /// `GET /_cluster_setup`
    static let state: Endpoint = .work { context in
        let isSetUp = try databases.allSatisfy(context.databases.contains)
        return .json(["state": isSetUp ? "single_node_enabled" : "single_node_disabled"])
    }

    /// `POST /_cluster_setup`: creates the databases of a node that stands alone. Administrators, addresses and ports are set
    /// when the server is started; a request that names another administrator is refused.
    static let setUp: Endpoint = .work(ServerState.create) { create, context in
        let wanted = try context.json()
        guard ["enable_single_node", "finish_cluster"].contains(wanted["action"]?.string ?? "") else {
            throw HTTPError.badRequest("the server is one node; the only action is enable_single_node")
        }
        if let name = wanted["username"]?.string, !context.administrators.contains(name) {
            throw HTTPError.badRequest(
                "an administrator is added when the server is started, with --admin; set it up as one that it has")
        }
        for name in databases {
            do { try create(name) } catch let error as DatabaseError where error.code == .exists {}
        }
        return .json(["ok": true], status: 201)
    }
}
