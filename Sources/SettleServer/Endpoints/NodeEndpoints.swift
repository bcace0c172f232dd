internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// What the only node of the server says of itself.
enum NodeEndpoints {
    /// Its name, that of a CouchDB which is no part of a cluster.
    static let name = "nonode@nohost"

    /// `GET /_membership`
    static let membership: Endpoint = .work { _ in
        .json(["all_nodes": [.string(name)], "cluster_nodes": [.string(name)]])
    }

    /// `GET /_node/{node}`
    static let node: Endpoint = .work { context in
        try ConfigurationEndpoints.checkNode(context)
        return .json(["name": .string(name)])
    }

    /// `GET /_node/{node}/_versions`: what there is here, and nothing of what CouchDB is made of.
    static let versions: Endpoint = .work { context in
        try ConfigurationEndpoints.checkNode(context)
        var members: JSONObject = [
            "settle": ["version": .string(ProductVersion.current)],
            "collation_driver": ["name": "libicu", "collator_version": .string(Collation.shortVersion)],
        ]
        if context.scripts != nil { members["javascript_engine"] = ["name": "javascriptcore"] }
        return .json(.object(members))
    }
}
