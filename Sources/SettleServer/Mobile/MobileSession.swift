internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

/// The server's end of one Couchbase Lite replicator: stores what the client pushes, and sends what it subscribes
/// to.
///
/// Workers handle the messages. The messages of one session are handled in batches, one after the other, so that
/// revisions that arrive together are stored in one transaction.
///
///     loop's thread ─ take ─→ inbox ─→ worker's turn: all that has come ─→ answers
///                                              └─→ the next changes and revisions of the subscription
///
/// The rights are those of the request that opened the connection, and are checked again in each turn. The
/// connection is closed when its user's account, password, roles or session end.
final class MobileSession: ConnectionOwner {
    struct State {
        var connection: BLIPConnection?
        var inbox: [BLIPMessage] = []
        var inboxBytes = 0
        /// The bytes of the messages that a worker is handling.
        var turnBytes = 0
        /// Requests that wait until the client has read more of what was sent.
        var late: [BLIPMessage] = []
        /// Revisions whose blobs have arrived.
        var complete: [PushedRevision] = []
        var blobs = BlobQueue()
        var upgrades = UpgradedEdits()
        var collections: SessionCollections
        /// The names of the client's checkpoints by the numbers of their collections.
        var clients: [Int: String] = [:]
        /// The subscriptions by the numbers of their collections.
        var feeds: [Int: MobileFeed] = [:]
        var isWorking = false
        var wantsAdvance = false
        var isOver = false
        /// Removes the session from the server's access watch.
        var unwatch: (@Sendable () -> Void)?

        /// Whether a turn has work. Messages that arrive before the connection is set wait for it.
        var hasWork: Bool {
            guard !isOver, let connection else { return false }
            // If nothing is being sent, nothing else would wake the waiting requests.
            let wakesLate = !late.isEmpty && connection.outgoingBytes == 0
            return !inbox.isEmpty || !complete.isEmpty || wantsAdvance || wakesLate
        }

        var lateBytes: Int { late.reduce(0) { $0 + $1.bytes } }
    }

    /// The number of messages and of their bytes that may wait; above these the socket is not read.
    private static let maximumWaiting = 200
    private static let maximumWaitingBytes = 32 << 20
    /// The maximum number of waiting requests. A client has at most one request for each revision without an
    /// answer.
    static let maximumLateRequests = 1000
    /// The number of bytes waiting for the client above which its requests wait too.
    static let maximumOutgoingBytes = 32 << 20

    let context: RequestContext
    let workers: WorkerPool
    let peer: String
    let state: Guarded<State>

    init(_ context: RequestContext, workers: WorkerPool, peer: String) {
        (self.context, self.workers, self.peer) = (context, workers, peer)
        state = Guarded(State(collections: SessionCollections(database: context.parameter("db"))))
    }

    /// Starts to answer the messages of a connection, including those that have arrived already.
    func begin(_ connection: BLIPConnection) {
        let watch = context.service(\.watch)
        let number = watch.add(AccessWatch.Grant(context, .member)) { [weak self, weak connection] reason in
            connection?.close(BLIPConnection.mayPass, reason: reason)
            self?.end()
        }
        schedule { state in
            state.connection = connection
            state.unwatch = { watch.remove(number) }
        }
        // The session may have ended before.
        if state.withLock(\.isOver) { watch.remove(number) }
    }

    var isBusy: Bool {
        state.withLock { $0.inbox.count >= Self.maximumWaiting || $0.inboxBytes >= Self.maximumWaitingBytes }
    }

    var account: String { context.user.name ?? "address " + peer }

    /// Whether the client is Settle's own replicator.
    var isOwn: Bool { context.request.headers["User-Agent"]?.hasPrefix("Settle/") == true }

    var bytesInMemory: Int { state.withLock { $0.inboxBytes + $0.turnBytes + $0.lateBytes + $0.blobs.bytes } }

    /// Whether there is memory for an answer of this size.
    func hasRoom(for bytes: Int) -> Bool { budget.hasRoom(for: account, bytes: bytes) }

    /// The memory budget of all connections.
    var budget: MobileBudget { context.service(\.mobile).budget }

    /// The connection; `nil` after its end.
    var connection: BLIPConnection? { state.withLock(\.connection) }

    /// The properties of the server's requests about a collection.
    func properties(of collection: Int) -> [String: String] {
        state.withLock { $0.collections.properties(of: collection) }
    }

    func receive(_ message: BLIPMessage) {
        schedule { state in
            state.inbox.append(message)
            state.inboxBytes += message.bytes
        }
    }

    func advance() { schedule { $0.wantsAdvance = !$0.feeds.isEmpty || !$0.late.isEmpty } }

    func end() {
        let (feeds, unwatch) = state.withLock { state in
            (state.isOver, state.connection) = (true, nil)
            (state.inbox, state.inboxBytes, state.complete, state.blobs) = ([], 0, [], BlobQueue())
            state.late = []
            defer { (state.feeds, state.unwatch) = ([:], nil) }
            return (state.feeds, state.unwatch)
        }
        unwatch?()
        for feed in feeds.values { feed.end() }
    }

    func log(_ error: any Error) {
        context.options.log?.warning(
            "a mobile connection is closed: \(error)", ["database": context.parameter("db"), "peer": peer])
    }

    /// Records a change that the client could not look up.
    func recordUnreadable(_ change: PulledRevision, _ error: BLIPError, _ collection: Int) {
        let database = state.withLock { $0.collections.databases[collection] } ?? context.parameter("db")
        let fault = "a mobile client can't look it up, so it is left out of that connection: \(error)"
        let entry = LeftOutDocuments.Entry(id: change.id, revision: change.revision, fault: fault)
        let new = try? context.service(\.mobile).leftOut.record([entry], offering: [], context.of(database: database))
        for entry in new ?? [] {
            context.options.log?.warning(
                entry.fault, ["database": database, "id": entry.id.string, "peer": peer])
        }
    }

    /// The device in a collection; `nil` if it has not named its checkpoint, or is Settle's own, which asks by proposals what is here.
    func device(in collection: Int) -> RefusedProposals.Device? {
        guard !isOwn else { return nil }
        return state.withLock { state in
            guard let client = state.clients[collection], let database = state.collections.databases[collection] else {
                return nil
            }
            return RefusedProposals.Device(account: account, database: database, client: client)
        }
    }

    /// Records that an edit of the device is here.
    func recordArrival(of edit: UpgradedEdits.Edit, in collection: Int) {
        state.withLock { state in
            let hasTrees = state.feeds[collection].map { !$0.usesVersions } ?? false
            state.upgrades.arrive(edit, in: collection, hasTrees: hasTrees)
        }
    }

    /// Changes what there is to do, and has a worker see to it.
    func schedule(_ change: (inout State) -> Void) {
        let starts = state.withLock { state in
            change(&state)
            guard state.hasWork, !state.isWorking else { return false }
            state.isWorking = true
            return true
        }
        if starts { workers.submit(for: peer) { [self] in work() } }
    }

    private func work() {
        while true {
            let turn = state.withLock { state -> (messages: [BLIPMessage], complete: [PushedRevision])? in
                state.turnBytes = 0
                guard state.hasWork else {
                    state.isWorking = false
                    return nil
                }
                state.turnBytes = state.inboxBytes + state.lateBytes
                defer {
                    (state.inbox, state.inboxBytes, state.complete, state.wantsAdvance) = ([], 0, [], false)
                    state.late = []
                }
                return (state.late + state.inbox, state.complete)
            }
            guard let turn, let connection else { return }
            handle(turn.messages, turn.complete, connection)
            // The socket may have waited for room.
            connection.wakeUp()
            for feed in state.withLock(\.feeds).values { feed.advance() }
        }
    }
}

// MARK: - Messages

/// Answers the requests of a client.
extension MobileSession {
    /// Answers messages in order. Consecutive revisions of one collection are stored together.
    func handle(_ messages: [BLIPMessage], _ complete: [PushedRevision], _ connection: BLIPConnection) {
        var revisions: [PushedRevision] = []
        var contexts: [Int: Result<RequestContext, any Error>] = [:]
        func context(of collection: Int) throws -> RequestContext {
            let known = contexts[collection] ?? Result { try checkedContext(of: collection) }
            contexts[collection] = known
            return try known.get()
        }
        func store() {
            guard let collection = revisions.first?.collection else { return }
            do {
                let answers = MobilePush(context: try context(of: collection)).store(revisions)
                for (revision, answer) in zip(revisions, answers) {
                    connection.respond(to: revision.message, with: answer)
                }
            } catch {
                for revision in revisions {
                    connection.respond(to: revision.message, with: .failure(Self.blipError(for: error)))
                }
            }
            revisions = []
        }
        func begin(_ collection: Int) {
            if revisions.first.map({ $0.collection != collection }) == true { store() }
        }
        // All revisions of a run are placed in one snapshot of the database, which costs less than a snapshot for
        // each.
        func add(_ run: ArraySlice<BLIPMessage>, _ collection: Int, _ context: RequestContext) throws {
            begin(collection)
            try context.database().snapshot {
                for message in run {
                    do { if let revision = try read(message, context, collection) { revisions.append(revision) } } catch
                    {
                        connection.respond(to: message, with: .failure(Self.blipError(for: error)))
                    }
                }
            }
        }
        for revision in complete {
            begin(revision.collection)
            revisions.append(revision)
        }
        var rest = messages[...]
        while let message = rest.first {
            let run = rest.prefix {
                $0.profile == "rev" && $0.properties["collection"] == message.properties["collection"]
            }
            rest.removeFirst(max(run.count, 1))
            do {
                let collection = try state.withLock { try $0.collections.check(message) }
                let context = try context(of: collection)
                guard run.isEmpty else {
                    try add(run, collection, context)
                    continue
                }
                guard hasRoom(for: message, connection) else { continue }
                store()
                let answer =
                    message.profile == "proposeChanges"
                    ? try context.database().snapshot { try respond(to: message, context, collection) }
                    : try respond(to: message, context, collection)
                connection.respond(to: message, with: answer)
            } catch {
                for message in run.isEmpty ? [message] : run {
                    connection.respond(to: message, with: .failure(Self.blipError(for: error)))
                }
            }
        }
        store()
    }

    /// Whether a request can be answered now. Otherwise it waits until the client has read more of what was sent.
    /// If nothing is being sent, or too many requests wait, the connection is closed, and the client connects
    /// again.
    ///
    /// An error instead would lose a document: if Couchbase Lite gets one for a blob, it continues without the
    /// document, and its checkpoint passes it.
    private func hasRoom(for message: BLIPMessage, _ connection: BLIPConnection) -> Bool {
        let outgoing = connection.outgoingBytes
        let isTight = message.profile == "getAttachment" && !hasRoom(for: MobileLimits.largestContent)
        guard isTight || outgoing >= Self.maximumOutgoingBytes else { return true }
        let waits = state.withLock { state in
            guard outgoing > 0, state.late.count < Self.maximumLateRequests else { return false }
            if !state.isOver { state.late.append(message) }
            return true
        }
        if !waits {
            let error = BLIPError.http(503, "the connections of the account take as much memory as they may")
            log(error)
            connection.close(BLIPConnection.mayPass, reason: error.description)
        }
        return false
    }

    /// The context of a collection's database. Checks that the user may read the database.
    func checkedContext(of collection: Int) throws -> RequestContext {
        guard let name = state.withLock({ $0.collections.databases[collection] }) else {
            throw BLIPError.http(404, "there is no collection of this number")
        }
        return try checkedContext(of: name)
    }

    private func checkedContext(of name: String) throws -> RequestContext {
        try context.service(\.access).check(
            .member, context.user, path: [name, "_blipsync"], database: name, method: "GET", in: context.databases)
        return context.of(database: name)
    }

    /// The contents of blobs and attachments of a database.
    func attachments(of context: RequestContext) throws -> MobileAttachments {
        MobileAttachments(database: try context.database(), digests: context.service(\.mobile).digests)
    }

    /// The BLIP form of an error, with the status and the reason of an HTTP response.
    static func blipError(for error: any Error) -> BLIPError {
        if let error = error as? BLIPError { return error }
        let error = HTTPError(error)
        return .http(error.status, error.reason)
    }

    private func respond(
        to message: BLIPMessage, _ context: RequestContext, _ collection: Int
    ) throws -> BLIPMessage {
        switch message.profile {
        case "getCheckpoint":
            let client = try MobileCheckpoints.checked(message.properties["client"])
            state.withLock { $0.clients[collection] = client }
            return try MobileCheckpoints(database: context.database()).get(message)
        case "setCheckpoint": return try MobileCheckpoints(database: context.database()).set(message)
        case "getCollections": return try choose(message)
        case "proposeChanges":
            var push = MobilePush(context: context)
            push.accepted = { [state] edit, version in
                state.withLock { $0.upgrades.add(edit, in: collection, beside: version) }
            }
            push.known = { [self] edit in recordArrival(of: edit, in: collection) }
            push.refused = { [self] id in
                if let device = device(in: collection) { self.context.service(\.mobile).refused.add(id, of: device) }
            }
            return try push.proposed(message)
        case "changes": return try MobilePush(context: context).changed(message)
        case "subChanges": return try subscribe(message, collection)
        case "getAttachment": return try attachments(of: context).answer(message)
        // Clients in browsers send `PING` to keep a connection open.
        case "norev", "PING": return BLIPMessage(.reply)
        default: throw BLIPError.noHandler
        }
    }

    /// Answers `getCollections` with the client's checkpoint in each collection: `{}` if the client has stored no
    /// checkpoint, `null` if the collection has no database.
    private func choose(_ message: BLIPMessage) throws -> BLIPMessage {
        let wanted = try MobileCheckpoints.collections(message)
        var databases: [String?] = []
        let answers = try wanted.map { collection, client -> JSONValue in
            let name = CollectionDatabase.name(of: collection, in: context.parameter("db"))
            do {
                let database = try name.map { try checkedContext(of: $0).database() }
                let answer = try database.map { try MobileCheckpoints(database: $0).whole(client) } ?? .null
                databases.append(database == nil ? nil : name)
                return answer
            } catch  where HTTPError(error).status == 404 {
                databases.append(nil)
                return .null
            }
        }
        state.withLock { state in
            state.collections.name(databases)
            for (number, item) in wanted.enumerated() where databases[number] != nil {
                state.clients[number] = item.client
            }
        }
        return BLIPMessage(.reply, body: JSONValue.array(answers).utf8)
    }

    private func subscribe(_ message: BLIPMessage, _ collection: Int) throws -> BLIPMessage {
        guard state.withLock({ $0.feeds[collection]?.isOver ?? true }) else {
            throw BLIPError.http(400, "there is a subscription already")
        }
        let feed = try MobileFeed(message, self, collection)
        state.withLock { $0.feeds[collection] = feed }
        return BLIPMessage(.reply)
    }
}
