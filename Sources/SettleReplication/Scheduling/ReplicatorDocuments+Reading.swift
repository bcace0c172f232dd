internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Reading documents.
extension ReplicatorDocuments {
    /// Takes all changes there are, and asks to be called at the next one. After a failure it continues a second later where
    /// it came to.
    func look(_ name: String, _ database: Database) {
        guard state.withLock({ !$0.isStopped && $0.databases[name] === database }) else { return }
        var seen = state.withLock { $0.seen[name] } ?? UpdateSequence(0)
        do {
            let newest = try database.lastSequence()
            try database.forEachChange(in: SequenceRange(after: seen), includingDocuments: true) { change in
                take(change, of: name)
                seen = change.sequence
                return true
            }
            // Purges move the sequence on without a change.
            seen = max(seen, newest)
        } catch let error as DatabaseError where error.code == .closed { return forget(name) } catch {
            return lookLater(name, database, seen, error)
        }
        state.withLock { state in
            state.seen[name] = seen
            state.unread.remove(name)
        }
        _ = database.notify(after: seen) { [weak self, weak database] isOpen in
            guard let self else { return }
            let open = isOpen ? database : nil
            queue.async { if let open { self.look(name, open) } else { self.forget(name) } }
        }
    }

    /// Waits a second: a database that is suspended, or whose server is away, would fail again at once.
    private func lookLater(_ name: String, _ database: Database, _ seen: UpdateSequence, _ error: any Error) {
        let isNew = state.withLock { state in
            state.seen[name] = seen
            return state.unread.insert(name).inserted
        }
        if isNew { warn("the replications of \(name) can't be read: \(error)", nil) }
        queue.asyncAfter(deadline: .now() + 1) { [weak self, weak database] in
            if let database { self?.look(name, database) }
        }
    }

    private func take(_ change: Change, of name: String) {
        guard !change.id.isDesign else { return }
        let origin = ReplicationJob.Origin(database: name, document: change.id)
        let members = change.isDeleted ? nil : change.document?.json.object
        guard let members, ![.completed, .failed].contains(ReplicationDocument.state(of: members)) else {
            return drop(origin)
        }
        let order = Self.order(members)
        guard state.withLock({ $0[origin]?.order }) != order else { return }
        drop(origin)
        let owner = members["owner"]
        do {
            let document = try ReplicationDocument(members)
            let client = try admit(document, owner)
            let number = state.withLock { $0.add(order, origin) }
            begin(origin, document, user: owner?.string, client, number)
        } catch { fail(origin, error.message, order) }
    }

    private func begin(
        _ origin: ReplicationJob.Origin, _ document: ReplicationDocument, user: String?, _ client: any HTTPTransport,
        _ number: Int
    ) {
        Task {
            do {
                let job = ReplicationJob(
                    id: try await document.jobID(client), document: document, origin: origin, user: user, client: client
                )
                change(origin, number) { $0.job = job }
                queue.async { [self] in start(job, origin, number) }
            } catch {
                let problem = (error as? PeerError)?.message ?? "\(error)"
                change(origin, number) { $0.problem = problem }
            }
        }
    }

    func change(_ origin: ReplicationJob.Origin, _ number: Int, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state[origin], entry.number == number else { return }
            body(&entry)
            state[origin] = entry
        }
    }

    private func drop(_ origin: ReplicationJob.Origin) {
        guard let entry = state.withLock({ $0[origin] }) else { return }
        let lease = remove(origin, entry.number)
        if let id = entry.job?.id { scheduler.remove(id) { $0.origin == origin } }
        if let lease { keeper(of: origin.database)?.unwant(lease) }
    }

    /// Removes an entry; returns the lease it asked for.
    func remove(_ origin: ReplicationJob.Origin, _ number: Int) -> LeaseName? {
        state.withLock { state in
            guard let entry = state[origin], entry.number == number else { return nil }
            state[origin] = nil
            if let id = entry.job?.id { state.waiting[id]?[origin] = nil }
            return entry.lease
        }
    }

    private func forget(_ name: String) {
        let documents = state.withLock { state in
            state.databases[name] = nil
            state.seen[name] = nil
            state.unread.remove(name)
            return Array((state.entries[name] ?? [:]).keys)
        }
        for document in documents { drop(ReplicationJob.Origin(database: name, document: document)) }
    }

    /// The members that say what to do.
    static func order(_ members: JSONObject) -> JSONObject {
        JSONObject(members.filter { !$0.name.hasPrefix("_replication_") }.map { ($0.name, $0.value) })
    }
}
