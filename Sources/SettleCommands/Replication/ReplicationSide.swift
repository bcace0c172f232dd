internal import Settle

/// One side of a replication as the command line names it: the folder of a database, or the URL of one.
struct ReplicationSide {
    let peer: any Peer
    /// The database, of a folder.
    let database: Database?
    /// The address, of a URL.
    let url: HTTPURL?
}

extension Invocation {
    /// Lends one side of a replication to a closure.
    ///
    /// - Parameters:
    ///   - operand: The name of the operand that names it.
    ///   - creates: Whether a folder that is not there is made into a database.
    ///   - body: Uses the side; the database is closed behind it.
    /// - Returns: What the closure returns.
    /// - Throws: ``CommandError``, ``DatabaseError`` or ``PeerError`` when there is no such side; what the closure throws.
    func withSide<Result>(
        _ operand: String, creates: Bool, _ body: (ReplicationSide) throws -> Result
    ) throws -> Result {
        let given = try arguments.operand(operand)
        if Self.isURL(given) {
            let url = try HTTPURL(given)
            let options = RemoteOptions(arguments: arguments, console: console)
            let peer = try CouchDBPeer(
                url.withoutCredentials, credentials: try options.credentials(for: url), client: try options.client(),
                onWarning: { console.complain("settle: \($0)", json: ["warning": .string($0)]) })
            return try body(ReplicationSide(peer: peer, database: nil, url: url.withoutCredentials))
        }
        let path = try path(operand)
        var options = DatabaseOptions()
        // Replications tell their warnings as events.
        options.warn = { _ in }
        let database = try waiting {
            creates ? try Database.openOrCreate(path, options: options) : try Database.open(path, options: options)
        }
        defer { database.close() }
        return try body(ReplicationSide(peer: LocalPeer(database), database: database, url: nil))
    }
}
