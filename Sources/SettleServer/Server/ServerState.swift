internal import RevisionTree
internal import SettleDatabase
internal import SettleReplication
internal import SettleScripting

/// What all requests of a server share.
final class ServerState: Sendable {
    let options: ServerOptions
    let databases: DatabasePool
    let administration: Administration
    let authenticator: Authenticator
    let access: AccessCheck
    let compactions = Compactions()
    let metrics = Metrics()
    let scheduler: ReplicationScheduler
    /// What runs the functions of design documents, where the options say what that is.
    let scripts: Scripts?
    let indexing = IndexingTasks()
    let replicatorDocuments: ReplicatorDocuments
    let requestIDs = RequestIDs()
    /// Whether the security object of `_users` may be changed.
    let isUsersSecurityEditable: Guarded<Bool>
    /// What the root calls the server's own id.
    var uuid: String { administration.uuid }

    init(store: Store, options: ServerOptions) {
        self.options = options
        databases = DatabasePool(store: store, limit: options.openDatabases)
        administration = Administration(options.security, path: store.path)
        authenticator = Authenticator(options, administration: administration, databases: databases)
        access = AccessCheck(options: options.security, databases: databases)
        scripts = options.scripts.map { Scripts($0, log: options.log) }
        scheduler = ReplicationScheduler(options.replicator, log: options.log)
        replicatorDocuments = ReplicatorDocuments(
            scheduler, isAdmin: { [administration] in administration.hash(of: $0) != nil }, log: options.log)
        isUsersSecurityEditable = Guarded(options.security.isUsersSecurityEditable)
    }

    /// Begins to run the replications that a database's documents ask for, if it is one for that.
    func watchReplications(_ name: String) throws {
        guard ReplicatorDocuments.isReplicator(name) else { return }
        replicatorDocuments.watch(name, try databases.open(name))
    }

    /// Ends all replications; they go on when the server is started again.
    func stopReplications(within seconds: Double) {
        replicatorDocuments.stop()
        scheduler.stop(seconds: seconds)
    }

    /// Makes the databases a server can't do without, unless they are there.
    func makeSystemDatabases() throws {
        for name in ["_users", "_replicator"] {
            do { try databases.create(name) } catch let error as DatabaseError where error.code == .exists { continue }
            guard name == "_users" else { continue }
            // The rules themselves are part of the server.
            let id = DocumentID(unchecked: "_design/_auth")
            _ = try databases.open(name).write([
                DocumentEdit(id: id, parent: nil, body: ["language": "javascript"])
            ])
        }
    }
}
