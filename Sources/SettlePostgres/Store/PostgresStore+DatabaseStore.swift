public import SettleDatabase
internal import SettlePlatform

extension PostgresStore: DatabaseStore, ServerStore {
    /// The hosts, the port and the database of the cluster.
    public var place: String { configuration.place }

    /// True: any number of nodes use it.
    package var isShared: Bool { true }

    /// Asks whether there is a database of a name.
    public func contains(_ name: String) throws -> Bool {
        guard DocumentStore.isName(name) else { return false }
        return try !find([name]).isEmpty
    }

    /// Makes a list that is read anew each time.
    package func nameList() -> any DatabaseNameList { PostgresNames(pool: pool) }

    /// Asks in one round trip what other nodes have changed.
    package func freshen(_ names: [String]) throws {
        let names = names.filter(DocumentStore.isName)
        let begin = ContinuousClock.now
        let others = [PostgresCall(.version), PostgresCall(.serverVersion, .text(PostgresRecord.name))]
        var results = try pool.ask(finding(names) + others)
        if let version = results.popLast(), version.count > 0 { record.note(version.integer(0, 0)) }
        if let version = results.popLast(), version.count > 0 { try pool.check(version: version.integer(0, 0)) }
        let rows = results.flatMap(rows)
        for row in rows { follow(row, readAt: begin) }
        closeOthers(names, rows)
    }

    /// Writes something that changes nothing, if the last write got no answer.
    package func checkWrites() throws { try pool.checkWrites() }

    /// Counts connections, writes that wait, and leases.
    package var numbers: [StoreNumber] {
        let load = pool.load
        return [
            StoreNumber("connections_in_use", "connections to PostgreSQL that are in use", load.lent),
            StoreNumber("connections_idle", "connections to PostgreSQL that are idle", load.idle),
            StoreNumber("connections_limit", "connections to PostgreSQL at most", configuration.connections),
            StoreNumber("connection_waiters", "threads that wait for a connection to PostgreSQL", load.counts.waiting),
            StoreNumber(
                "connection_waits", "how often a thread waited for a connection to PostgreSQL", load.counts.waits,
                isCounter: true),
            StoreNumber(
                "connection_refusals", "how often no connection to PostgreSQL became free in time",
                load.counts.refusals, isCounter: true),
            StoreNumber(
                "connections_opened", "connections that were made to PostgreSQL", load.counts.opened, isCounter: true),
            StoreNumber(
                "connection_failures", "attempts to connect to PostgreSQL that failed", load.counts.failures,
                isCounter: true),
            StoreNumber("commit_queue", "writes of this node that wait for their turn", hub.waitingWrites),
            StoreNumber(
                "leases", "jobs whose leases this node holds",
                pool.leases.withLock { $0.values.reduce(0) { $0 + $1.count } }),
        ]
    }

    /// Makes a temporary folder of this node, at the first call.
    package func uploadFolder() throws -> String { try uploads.path() }
}
