public import SettleDatabase

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
        var results = try pool.ask(finding(names) + [PostgresCall(.serverVersion, .text(PostgresRecord.name))])
        if let version = results.popLast(), version.count > 0 { record.note(version.integer(0, 0)) }
        let rows = results.flatMap(rows)
        for row in rows { follow(row, readAt: begin) }
        closeOthers(names, rows)
    }

    /// Makes a temporary folder of this node, at the first call.
    package func uploadFolder() throws -> String { try uploads.path() }
}
