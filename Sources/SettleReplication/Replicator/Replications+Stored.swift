internal import RevisionTree
internal import SettleDatabase

/// What there is to see and to change of persistent replications, whether they run or not.
extension Replications {
    /// The persistent replications, in the order in which they were kept.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read; ``PeerError`` with code `badRequest` for one that is no
    ///   replication.
    public func persistent() throws -> [PersistentReplication] {
        guard let database else { return [] }
        return try StoredReplications(database: database).all().map { name, members in
            let (document, isPush, url) = try StoredReplications.read(members)
            let endpoint = isPush ? document.target : document.source
            return PersistentReplication(
                name: name, direction: isPush ? .push : .pull, url: (endpoint.told ?? url).withoutPassword,
                isContinuous: document.isContinuous, state: StoredReplications.state(of: members),
                hasPassword: endpoint.hasPassword, filter: ReplicationDocument.members(of: document.filter))
        }
    }

    /// Has a persistent replication wait: it is stopped if it runs, and not started before ``continuePersistent(_:)``. The
    /// checkpoint stays, so it goes on then from where it was.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` where none has the name; ``DatabaseError``.
    public func pausePersistent(_ name: String) async throws {
        try await change(name) { $0["paused"] = true }
        await running(name)?.stop()
    }

    /// Lets a persistent replication that was told to wait, or was completed, go on: the one of this process is started, or
    /// else it is when the next `resume` is called.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` where none has the name; ``DatabaseError``.
    public func continuePersistent(_ name: String) async throws {
        try await change(name) { members in
            members["paused"] = nil
            members["_replication_state"] = nil
        }
        running(name)?.start()
    }

    /// Forgets a persistent replication; it is stopped if it runs. Documents and the checkpoint stay (SEMANTICS 102).
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` where none has the name; ``DatabaseError``.
    public func removePersistent(_ name: String) async throws {
        if let replicator = running(name) { await remove(replicator) } else { try await change(name, nil) }
    }

    func change(_ name: String, _ body: (@Sendable (inout JSONObject) throws -> Void)?) async throws {
        guard let database else { return }
        let isThere = try await database.perform { database in
            let stored = StoredReplications(database: database)
            guard try stored.all().contains(where: { $0.name == name }) else { return false }
            if let body { try stored.update(name, body) } else { try stored.set(name, nil) }
            return true
        }
        guard isThere else {
            throw PeerError(.notFound, "the database keeps no replication \"\(name)\"", status: 404)
        }
    }
}
