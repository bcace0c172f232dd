internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleReplication

/// The replications of a server: those that requests to `_replicate` start, and those in documents of `_replicator`
/// and of databases whose names end in `/_replicator`.
final class ReplicationService: Sendable {
    let scheduler: ReplicationScheduler
    let documents: ReplicatorDocuments
    private let policy: TargetPolicy
    private let isStopped = Guarded(false)
    /// The queue that searches for replicator databases of other nodes.
    private let searches = DispatchQueue(label: "settle.replicators", qos: .utility)

    /// - Parameters:
    ///   - options: The replicator's options and limits.
    ///   - clock: Measures the age of leases.
    ///   - isAdmin: Returns whether a user is an administrator of the server.
    ///   - log: Gets runs and problems.
    init(
        _ options: ReplicatorOptions, clock: some Clock<Duration> = ContinuousClock(),
        isAdmin: @escaping @Sendable (String) -> Bool, log: ServerLog?
    ) {
        var retry = ReplicationRetryPolicy()
        (retry.firstDelay, retry.maximumDelay) = (options.retryDelay, options.longestRetryDelay)
        scheduler = ReplicationScheduler(room: options.jobs, turn: options.turn, retry: retry)
        let policy = TargetPolicy(options)
        self.policy = policy
        scheduler.observe { log?.write($0) }
        documents = ReplicatorDocuments(
            scheduler, clock: clock,
            admit: { document, owner throws(ReplicationDocumentError) in
                // A document without an owner was written by someone with access to the server's files, and not
                // over HTTP.
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

    /// Starts the replications in a database's documents.
    func watch(_ name: String, _ database: Database) { documents.watch(name, database) }

    /// The name of this node, as `_scheduler` and `_active_tasks` show it.
    var node: String { documents.node ?? "nonode@nohost" }

    /// The jobs as `_scheduler/jobs` lists them: a page of the jobs of all nodes, ordered by id, and their total
    /// number. No job is listed whose document was deleted or changed before; the job of a new document may follow a
    /// moment later.
    func jobs(skip: Int, limit: Int) -> (page: [ReplicationJob], total: Int) {
        documents.catchUp()
        let others = documents.jobsElsewhere
        guard !others.isEmpty else { return scheduler.jobs(skip: skip, limit: limit) }
        let all = (scheduler.jobs(skip: 0, limit: .max).page + others).sorted { $0.id < $1.id }
        return (Array(all.dropFirst(skip).prefix(limit)), all.count)
    }

    /// A job of any node, by id.
    func job(_ id: String) -> ReplicationJob? {
        documents.catchUp()
        return scheduler.job(id) ?? documents.jobsElsewhere.first { $0.id == id }
    }

    /// The ledger of a job on this node; `nil` if this node has no such job.
    func ledger(of id: String) -> ReplicationLedger? {
        documents.catchUp()
        return scheduler.ledger(of: id)
    }

    /// The running jobs of all nodes.
    func runningJobs() -> [ReplicationJob] {
        documents.catchUp()
        return scheduler.runningJobs + documents.jobsElsewhere.filter(\.isRunning)
    }

    /// Ends all replications, and waits for them for some time.
    func stop(seconds: Double) {
        isStopped.withLock { $0 = true }
        documents.stop()
        documents.leave(areEnded: scheduler.stop(seconds: seconds))
    }
}

/// Finding replicator databases.
extension ReplicationService {
    /// Starts the replications in the documents of all replicator databases.
    ///
    /// - Throws: ``DatabaseError`` if the databases can't be listed or opened.
    func watchAll(of databases: DatabasePool) throws {
        for name in try databases.names.names(where: ReplicatorDocuments.isReplicator) {
            do { watch(name, try databases.open(name)) } catch let error as HTTPError where error.status == 404 {
                // It was deleted meanwhile.
            }
        }
    }

    /// Searches for replicator databases again and again until the service stops. Other nodes of a shared store create
    /// some, and replace or delete those that this node watches.
    func watchAll(of databases: DatabasePool, every interval: Duration) {
        let delay = DispatchTimeInterval.milliseconds(interval.milliseconds)
        searches.asyncAfter(deadline: .now() + delay) { [weak self, weak databases] in
            guard let self, let databases, !isStopped.withLock(\.self) else { return }
            // If the store can't be reached now, the next search reads it.
            try? Freshness.answering {
                try databases.freshen(databases.open.keys.filter(ReplicatorDocuments.isReplicator))
                try watchAll(of: databases)
            }
            watchAll(of: databases, every: interval)
        }
    }
}

/// Answers requests to `_replicate`.
extension ReplicationService {
    /// Runs a replication and answers at its end, or at once if it is continuous.
    ///
    /// It runs on the node that received the request, and ends with that node. Only replications in documents move
    /// to other nodes.
    ///
    /// - Throws: ``HTTPError`` if the user may not replicate with one of the sides.
    func replicate(_ document: ReplicationDocument, for user: User) throws -> Promise<HTTPResponse> {
        let client = try client(for: document, user)
        return answering(document, client) { [scheduler] id, answer in
            let job = ReplicationJob(id: id, document: document, origin: nil, user: user.name, client: client)
            guard !document.isContinuous else {
                scheduler.add(job)
                answer.fulfil(.json(["ok": true, "_local_id": .string(id)], status: 202))
                return
            }
            scheduler.add(job) { result in
                switch result {
                case .success(let result): answer.fulfil(.json(ReplicationAnswer.json(result, document)))
                case .failure(let error): answer.fulfil(.error(ReplicationAnswer.error(error, document)))
                }
            }
        }
    }

    /// Stops the replication that an equal request has started.
    ///
    /// - Throws: ``HTTPError`` if the user may not replicate with one of the sides.
    func cancel(_ document: ReplicationDocument, for user: User) throws -> Promise<HTTPResponse> {
        answering(document, try client(for: document, user)) { [self] id, answer in answer.fulfil(cancel(id)) }
    }

    /// Stops a job by id. The job of a document is stopped by deleting the document.
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
        _ body: @escaping @Sendable (String, Promise<HTTPResponse>) -> Void
    ) -> Promise<HTTPResponse> {
        let answer = Promise<HTTPResponse>()
        Task {
            do { body(try await document.jobID(client), answer) } catch { answer.fulfil(.error(HTTPError(error))) }
        }
        return answer
    }
}

extension ReplicatorDocuments {
    /// Whether a database's documents define replications.
    static func isReplicator(_ name: String) -> Bool { name == "_replicator" || name.hasSuffix("/_replicator") }

    /// Whether a database is the system's, whose documents have rules of their own: users, replications and the like.
    package static func isOfSystem(_ name: String) -> Bool { name.hasPrefix("_") || isReplicator(name) }
}

extension ServerLog {
    /// Logs an event of a replication.
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

// MARK: - Metrics

/// Monitoring replications.
extension ReplicationService {
    /// The current metrics.
    var metrics: [Metric] {
        let (counts, states) = scheduler.counts
        func metric(_ path: [String], _ kind: Metric.Kind, _ help: String, _ value: Int) -> Metric {
            Metric(["couch_replicator"] + path, kind, help, value)
        }
        return [
            metric(["jobs", "total"], .gauge, "number of replications there are", states.values.reduce(0, +)),
            metric(["jobs", "running"], .gauge, "number of replications that run", states[.running] ?? 0),
            metric(
                ["jobs", "pending"], .gauge, "number of replications that wait for their turn", states[.pending] ?? 0),
            metric(
                ["jobs", "crashing"], .gauge, "number of replications that failed or can't reach a peer, and try again",
                states[.crashing] ?? 0),
            metric(["jobs", "starts"], .counter, "number of runs of replications that were begun", counts.started),
            metric(["jobs", "completed"], .counter, "number of replications that were completed", counts.completed),
            metric(["jobs", "crashes"], .counter, "number of runs of replications that failed", counts.crashed),
        ]
    }
}

// MARK: - ReplicationAnswer

/// The final answer of `_replicate` in CouchDB's form.
enum ReplicationAnswer {
    /// The answer after a successful replication.
    static func json(_ result: ReplicationResult, _ document: ReplicationDocument) -> JSONValue {
        guard document.usesCheckpoints else { return ["ok": true, "use_checkpoints": false] }
        var members: JSONObject = ["ok": true]
        if !result.hasWritten { members["no_changes"] = true }
        let log = result.log?.object ?? JSONObject()
        // A replication that never had anything to do has no log.
        guard let entries = log["history"]?.array, !entries.isEmpty else { return .object(members) }
        // As in CouchDB, the answer leaves out documents that don't exist.
        if case .documents = document.filter, entries.allSatisfy({ $0["missing_checked"] == 0 }) {
            return ["ok": true, "no_changes": true]
        }
        for name in ["session_id", "source_last_seq", "replication_id_version"] { members[name] = log[name] }
        let history = entries.map { entry -> JSONValue in
            var entry = entry.object ?? JSONObject()
            // The number of earlier checkpoints is internal.
            entry["number"] = nil
            return .object(entry)
        }
        if case .documents = document.filter {
            for name in ["start_time", "end_time", "docs_read", "docs_written", "doc_write_failures"] {
                members[name] = history.first?[name]
            }
        }
        members["history"] = .array(history)
        return .object(members)
    }

    /// The reason why a replication failed.
    static func error(_ error: PeerError, _ document: ReplicationDocument) -> HTTPError {
        switch error.code {
        case .notFound where error.message.hasPrefix("could not open"):
            HTTPError(404, "db_not_found", error.message)
        case .notFound where document.filter.isNamed: .notFound("The filter can't be used: \(error.message)")
        case .unauthorized, .forbidden: HTTPError.unauthorized(error.message)
        case .badRequest: .badRequest(error.message)
        case .busy where error.status == 503: HTTPError(503, "service_unavailable", error.message)
        default: HTTPError(500, "replication_failed", error.message)
        }
    }
}

extension ReplicationFilter {
    /// Whether the filter is a function or a view of a design document.
    fileprivate var isNamed: Bool { if case .named = self { true } else { false } }
}
