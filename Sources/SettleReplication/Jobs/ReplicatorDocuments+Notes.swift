internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Writes results into documents.
extension ReplicatorDocuments {
    /// Records that a document's replication can never run. If there are leases, the node with the lease for this
    /// writes it into the document.
    func fail(_ origin: ReplicationJob.Origin, _ reason: String, _ order: JSONObject) {
        guard keeper(of: origin.database) != nil else {
            _ = writeFailure(origin, reason, order, under: nil)
            return
        }
        let number = state.withLock { $0.add(order, origin) }
        change(origin, number) { $0.problem = reason }
        ask(for: LeaseName(origin.database, .note, origin.document.string), origin, number)
    }

    /// Writes what ``fail(_:_:_:)`` has recorded.
    func storeFailure(_ origin: ReplicationJob.Origin) {
        guard let keeper = keeper(of: origin.database), let entry = state.withLock({ $0[origin] }),
            let reason = entry.problem, let lease = entry.lease, lease.kind == .note
        else { return }
        finish(origin, entry, keeper) { writeFailure(origin, reason, entry.order, under: $0) }
    }

    private func writeFailure(
        _ origin: ReplicationJob.Origin, _ reason: String, _ order: JSONObject, under lease: JobLease?
    ) -> Bool {
        warn("a replication can't be: \(reason)", origin)
        return write(.failed, into: origin, order, under: lease) { members in
            members["_replication_stats"] = nil
            members["_replication_state_reason"] = .string(reason)
        }
    }

    func complete(_ job: ReplicationJob) {
        guard let origin = job.origin, let entry = state.withLock({ $0[origin] }), entry.job?.id == job.id else {
            return
        }
        finish(origin, entry, keeper(of: origin.database)) { lease in
            write(.completed, into: origin, entry.order, under: lease) { members in
                members["_replication_state_reason"] = nil
                members["_replication_stats"] = .object(
                    JSONObject([("start_time", .string(job.start.iso8601))] + (job.statistics ?? [])))
            }
        }
    }

    /// Writes the result with which an entry ends. If that needs a lease that is lost, or the storage can't be
    /// reached, the entry stays, and the next node that gets the lease writes it.
    private func finish(
        _ origin: ReplicationJob.Origin, _ entry: Entry, _ keeper: LeaseKeeper?, _ write: (JobLease?) -> Bool
    ) {
        guard let keeper, let name = entry.lease else {
            _ = write(nil)
            _ = remove(origin, entry.number)
            return
        }
        let lease = keeper.lease(of: name)
        if lease == nil {
            warn("the end of a replication is not noted, because this node has lost its lease", origin)
        } else if write(lease) {
            if let lease = remove(origin, entry.number) { keeper.unwant(lease) }
            return
        }
        if let id = entry.job?.id { wait(for: id, origin, entry.number) }
        keeper.refuse(name)
    }

    /// Writes a state into a document, if the document still defines the same replication.
    ///
    /// - Returns: Whether nothing is left to do; false if a lease was lost or the storage can't be reached.
    private func write(
        _ final: ReplicationState, into origin: ReplicationJob.Origin, _ order: JSONObject, under lease: JobLease?,
        _ note: (inout JSONObject) -> Void
    ) -> Bool {
        guard let database = state.withLock({ $0.databases[origin.database] }) else { return true }
        do {
            try database.transaction(under: lease) {
                guard let record = try database.record(of: origin.document), let winner = record.tree.winner,
                    let content = record.content, var members = Self.members(of: record, asking: order)
                else { return }
                members["_replication_state"] = .string(final.rawValue)
                members["_replication_state_time"] = .string(WallTime.now().iso8601)
                note(&members)
                let edit = DocumentEdit(
                    id: origin.document, parent: winner.revision, body: try DocumentBody(.object(members)),
                    attachments: content.attachments)
                for result in try database.write([edit]) { _ = try result.get() }
            }
            return true
        } catch {
            warn("the state of a replication was not written: \(error)", origin)
            guard lease != nil, let code = (error as? DatabaseError)?.code else { return true }
            return ![.conflict, .unavailable].contains(code)
        }
    }

    /// Whether the stored document still defines the replication of its entry; false if it can't be read.
    func asksStill(_ origin: ReplicationJob.Origin) -> Bool {
        let (entry, database) = state.withLock { ($0[origin], $0.databases[origin.database]) }
        guard let entry, let record = try? database?.record(of: origin.document) else { return false }
        return Self.members(of: record, asking: entry.order) != nil
    }

    /// The members of a stored document; `nil` if it no longer defines this replication, or contains a result.
    private static func members(of record: DocumentRecord, asking order: JSONObject) -> JSONObject? {
        guard record.tree.winner?.isDeleted == false, let members = record.content?.body.json.object,
            self.order(members) == order, ![.completed, .failed].contains(ReplicationDocument.state(of: members))
        else { return nil }
        return members
    }
}
