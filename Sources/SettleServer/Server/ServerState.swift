internal import RevisionTree
internal import SettleDatabase

/// What all requests of a server share.
final class ServerState: Sendable {
    let options: ServerOptions
    let databases: DatabasePool
    let administration: Administration
    let authenticator: Authenticator
    let access: AccessCheck
    let compactions = Compactions()
    let metrics = Metrics()
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
        isUsersSecurityEditable = Guarded(options.security.isUsersSecurityEditable)
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
