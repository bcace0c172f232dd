internal import SettleCore
internal import SettleDatabase

/// Listing and changing persistent replications, whether they run or not.
extension Replications {
    /// The persistent replications, in the order in which they were stored.
    ///
    /// - Throws: ``DatabaseError`` if the database can't be read; ``PeerError`` with code `badRequest` for a stored
    ///   replication that can't be read.
    public func persistent() throws -> [PersistentReplication] {
        guard let database else { return [] }
        return try database.storedReplications().documents.map { stored in
            let (name, members) = (stored.name, stored.value.object ?? JSONObject())
            let (document, isPush, url) = try StoredReplications.read(members)
            let endpoint = isPush ? document.target : document.source
            return PersistentReplication(
                name: name, direction: isPush ? .push : .pull, url: (endpoint.told ?? url).withoutPassword,
                isContinuous: document.isContinuous, state: state(of: members, name),
                hasPassword: endpoint.hasPassword, filter: ReplicationDocument.members(of: document.filter))
        }
    }

    /// Pauses a persistent replication: it is stopped if it runs, and not started before ``continuePersistent(_:)``.
    /// The checkpoint stays, so it then continues where it stopped.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func pausePersistent(_ name: String) async throws {
        try await change(name) { $0.set(.paused, of: name) }
        await running(name)?.stop()
    }

    /// Continues a persistent replication that was paused or has completed: starts it if it is loaded in this process,
    /// otherwise the next `resume` does.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func continuePersistent(_ name: String) async throws {
        try await change(name) { $0.set(.pending, of: name) }
        running(name)?.start()
    }

    /// Removes a persistent replication, and stops it if it runs. Documents and the checkpoint stay (SEMANTICS 102).
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func removePersistent(_ name: String) async throws {
        if let replicator = running(name) {
            await remove(replicator)
        } else {
            try await change(name) { $0[name] = nil }
        }
    }

    private func state(of members: JSONObject, _ name: String) -> ReplicationState {
        let state = ReplicationDocument.state(of: members)
        switch running(name)?.status.mode {
        case .active? where state == .pending, .idle? where state == .pending: return .running
        case .offline? where state == .pending: return .crashing
        default: return state
        }
    }

    func change(_ name: String, _ body: @escaping @Sendable (inout StoredReplications) throws -> Void) async throws {
        guard let database else { return }
        let isThere = try await database.perform { database in
            try database.changeStoredReplications { stored in
                guard stored[name] != nil else { return false }
                try body(&stored)
                return true
            }
        }
        guard isThere else {
            throw PeerError(.notFound, "the database keeps no replication \"\(name)\"", status: 404)
        }
    }
}
