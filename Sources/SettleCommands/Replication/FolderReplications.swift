internal import Settle

/// Replications that the folder of a database keeps.
struct FolderReplications: ReplicationsCommand.Keeper {
    /// What the database itself is called.
    private static let here = "local"

    private let invocation: Invocation
    private let verb = ReplicationsCommand.spec.name

    init(_ invocation: Invocation) { self.invocation = invocation }

    func all() throws -> [ReplicationsCommand.Kept] {
        try invocation.withDatabase { database in
            try database.replications.persistent().map { kept in
                let user = kept.url.user.map { "\($0)@" } ?? ""
                let other = "\(kept.url.scheme.rawValue)://\(user)\(kept.url.authority)\(kept.url.path)"
                let isPush = kept.direction == .push
                return ReplicationsCommand.Kept(
                    id: kept.name, source: isPush ? Self.here : other, target: isPush ? other : Self.here,
                    isContinuous: kept.isContinuous, state: kept.state.rawValue)
            }
        }
    }

    func add() throws -> String {
        let arguments = invocation.arguments
        let (source, target) = (try arguments.operand("SOURCE"), try arguments.operand("TARGET"))
        guard (source == Self.here) != (target == Self.here) else {
            throw CommandError.usage(
                "a folder keeps replications between itself, called `local`, and a URL", verb: verb)
        }
        if arguments.text("--name") != nil {
            throw CommandError.usage("--name is for servers; a folder's replications have IDs of their own", verb: verb)
        }
        let isPush = source == Self.here
        let url = try HTTPURL(isPush ? target : source)
        let keepsPassword = arguments.flag("--store-password")
        return try invocation.withDatabase { database in
            let credentials: Credentials =
                if keepsPassword {
                    try RemoteOptions.KeptCredentials(console: invocation.console).credentials(for: url)
                } else { url.user.map { .basic(user: $0, password: "") } ?? .none }
            let peer = try CouchDBPeer(url.withoutCredentials, credentials: credentials)
            var configuration: ReplicationConfiguration =
                isPush ? .push(database, to: peer) : .pull(database, from: peer)
            try ReplicationOptions(arguments: arguments, verb: verb).apply(to: &configuration)
            let asked = configuration
            return try waiting(for: url) {
                let replicator = try await database.replications.replicator(asked)
                return try await database.replications.persist(replicator, storesCredentials: keepsPassword)
            }
        }
    }

    func pause(_ id: String) throws { try change { try await $0.pausePersistent(id) } }

    func resume(_ id: String) throws { try change { try await $0.continuePersistent(id) } }

    func remove(_ id: String) throws { try change { try await $0.removePersistent(id) } }

    private func change(_ body: @escaping @Sendable (Replications) async throws -> Void) throws {
        try invocation.withDatabase { database in try waiting(for: nil) { try await body(database.replications) } }
    }

    private func waiting<Value: Sendable>(
        for url: HTTPURL?, _ work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        do { return try Waiting.wait(for: work) } catch let error as PeerError {
            if let url { throw ClientFailure(url: url).told(error) }
            throw CommandError(error.code.name, error.message, status: error.code == .notFound ? .notFound : .failure)
        }
    }
}
