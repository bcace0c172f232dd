internal import SettleDatabase

/// What all requests of a server share.
final class ServerState: Sendable {
    let options: ServerOptions
    let databases: DatabasePool
    let access = AccessCheck()
    let compactions = Compactions()
    /// What the root calls the server's own id.
    let uuid = UUIDs.random()

    init(store: Store, options: ServerOptions) {
        self.options = options
        databases = DatabasePool(store: store, limit: options.openDatabases)
    }
}
