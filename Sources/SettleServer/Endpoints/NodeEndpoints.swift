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

    /// `GET /_node/{node}/_settings`: what the server stores about itself, for a backup: the hashes of the administrators' passwords, the
    /// secret of cookies, its id and the settings that were changed over HTTP.
    static let settings: Endpoint = .work(\.administration) { administration, context in
        try ConfigurationEndpoints.checkNode(context)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: .bytes(administration.stored))
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
