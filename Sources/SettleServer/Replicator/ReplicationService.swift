internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// The replications of a server: those for which requests to `_replicate` ask, and those for which documents of `_replicator`
/// do, and of databases whose names end in `/_replicator`.
final class ReplicationService: Sendable {
    let scheduler: ReplicationScheduler
    let documents: ReplicatorDocuments
    private let policy: TargetPolicy

    /// - Parameters:
    ///   - options: What the replicator may do.
    ///   - isAdmin: Whether a user is an administrator of the server.
    ///   - log: Where runs and problems are written.
    init(_ options: ReplicatorOptions, isAdmin: @escaping @Sendable (String) -> Bool, log: ServerLog?) {
        var retry = ReplicationRetryPolicy()
        (retry.firstDelay, retry.maximumDelay) = (options.retryDelay, options.longestRetryDelay)
        scheduler = ReplicationScheduler(room: options.jobs, turn: options.turn, retry: retry)
        let policy = TargetPolicy(options)
        self.policy = policy
        scheduler.observe { log?.write($0) }
        documents = ReplicatorDocuments(
            scheduler,
            admit: { document, owner throws(ReplicationDocumentError) in
                // Without an owner it was written by no user of the server, but by whoever has its files.
                try policy.client(for: document, isAdmin: owner.map { $0.string.map(isAdmin) ?? false } ?? true)
            },
            warn: { message, origin in
                guard let origin else {
                    log?.warning(message)
                    return
                }
                log?.warning(message, ["document": "\(origin.database)/\(origin.document)"])
            })
    }

    /// A number of seconds, at most a year, which can be doubled without an overflow.
    /// Begins to run the replications for which a database's documents ask.
    func watch(_ name: String, _ database: Database) { documents.watch(name, database) }

    /// Ends all replications, and waits for them a while.
    func stop(seconds: Double) {
        documents.stop()
        scheduler.stop(seconds: seconds)
    }
}

/// What requests to `_replicate` want.
extension ReplicationService {
    /// Runs a replication, and answers at its end; at once if it is continuous.
    ///
    /// - Throws: ``HTTPError`` if the user may not replicate with one of the sides.
    func replicate(_ document: ReplicationDocument, for user: User) throws -> DeferredResponse {
        let client = try client(for: document, user)
        return answering(document, client) { [scheduler] id, answer in
            let job = ReplicationJob(id: id, document: document, origin: nil, user: user.name, client: client)
            guard !document.isContinuous else {
                scheduler.add(job)
                return answer.fulfil(.json(["ok": true, "_local_id": .string(id)], status: 202))
            }
            scheduler.add(job) { result in
                switch result {
                case .success(let result): answer.fulfil(.json(ReplicationAnswer.json(result, document)))
                case .failure(let error): answer.fulfil(.error(ReplicationAnswer.error(error)))
                }
            }
        }
    }

    /// Stops what a request has started, by what it said.
    ///
    /// - Throws: ``HTTPError`` if the user may not replicate with one of the sides.
    func cancel(_ document: ReplicationDocument, for user: User) throws -> DeferredResponse {
        answering(document, try client(for: document, user)) { [self] id, answer in answer.fulfil(cancel(id)) }
    }

    /// Stops a job by its id; one for which a document asks is stopped by deleting that.
    func cancel(_ id: String) -> HTTPResponse {
        guard let removed = scheduler.remove(id, where: { $0.origin == nil }) else { return .error(HTTPError.missing) }
        return .json(["ok": true, "_local_id": .string(removed.id)])
    }

    private func client(for document: ReplicationDocument, _ user: User) throws -> any HTTPTransport {
        do { return try policy.client(for: document, isAdmin: user.isServerAdmin) } catch {
            throw HTTPError.badRequest(error.message)
        }
    }

    /// Answers when the id of a replication is known.
    private func answering(
        _ document: ReplicationDocument, _ client: any HTTPTransport,
        _ body: @escaping @Sendable (String, DeferredResponse) -> Void
    ) -> DeferredResponse {
        let answer = DeferredResponse()
        Task {
            do { body(try await document.jobID(client), answer) } catch { answer.fulfil(.error(HTTPError(error))) }
        }
        return answer
    }
}

extension ReplicatorDocuments {
    /// Whether a database's documents are replications.
    static func isReplicator(_ name: String) -> Bool { name == "_replicator" || name.hasSuffix("/_replicator") }
}

extension ServerLog {
    /// Writes what happened to a replication.
    fileprivate func write(_ event: ReplicationNotice) {
        switch event {
        case .started(let job): notice("replication_started", job.details)
        case .failed(let job, let error): warning("a replication failed: \(error.message)", job.details)
        case .completed(let job, _): notice("replication_completed", job.details)
        case .removed: break
        }
    }
}

extension ReplicationJob {
    fileprivate var details: KeyValuePairs<String, String> {
        let (source, target) = (document.source.shown, document.target.shown)
        guard let origin else { return ["replication": id, "source": source, "target": target] }
        return [
            "replication": id, "source": source, "target": target,
            "document": "\(origin.database)/\(origin.document)",
        ]
    }
}
