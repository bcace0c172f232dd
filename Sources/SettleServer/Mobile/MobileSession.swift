internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// One Couchbase Lite replicator at the server's end: what it pushes is stored, what it subscribes to is sent.
///
/// Messages are handled by workers, those of one session one batch after the other, so that revisions that come together are
/// stored in one transaction.
///
///     loop's thread ─ take ─→ inbox ─→ worker's turn: all that has come ─→ answers
///                                              └─→ the next changes and revisions of the subscription
///
/// The rights are those of the request that opened the connection, and are checked again in each turn. The connection is closed
/// when its user's account, password, roles or session end.
final class MobileSession: ConnectionOwner {
    struct State {
        var connection: BLIPConnection?
        var inbox: [BLIPMessage] = []
        var inboxBytes = 0
        /// The bytes of the messages that a worker handles.
        var turnBytes = 0
        /// Requests that wait until the client has taken more of what is sent.
        var late: [BLIPMessage] = []
        /// Revisions whose blobs have come.
        var complete: [PushedRevision] = []
        var blobs = BlobQueue()
        var upgrades = UpgradedEdits()
        var collections: SessionCollections
        /// The subscriptions by the numbers of their collections.
        var feeds: [Int: MobileFeed] = [:]
        var isWorking = false
        var wantsAdvance = false
        var isOver = false
        /// Removes it from the server's access watch.
        var unwatch: (@Sendable () -> Void)?

        /// Whether a turn has something to do. Messages that come before the connection is known wait for it.
        var hasWork: Bool {
            guard !isOver, let connection else { return false }
            // Nothing that is sent would wake the late ones.
            let wakesLate = !late.isEmpty && connection.outgoingBytes == 0
            return !inbox.isEmpty || !complete.isEmpty || wantsAdvance || wakesLate
        }

        var lateBytes: Int { late.reduce(0) { $0 + $1.bytes } }
    }

    /// How many messages, and how many bytes of them, may wait before the socket is not read any more.
    private static let mostWaiting = 200
    private static let mostWaitingBytes = 32 << 20
    /// How many requests may wait for the client. One has a request for each revision without an answer, at most.
    static let mostLate = 1000
    /// The bytes that wait for the client from which on its requests wait, too.
    static let mostOutgoing = 32 << 20

    let context: RequestContext
    let workers: WorkerPool
    let peer: String
    let state: Guarded<State>

    init(_ context: RequestContext, workers: WorkerPool, peer: String) {
        (self.context, self.workers, self.peer) = (context, workers, peer)
        state = Guarded(State(collections: SessionCollections(database: context.parameter("db"))))
    }

    /// Begins to answer the messages of a connection, also of those that have come already.
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
        // It may have ended before.
        if state.withLock(\.isOver) { watch.remove(number) }
    }

    var isBusy: Bool {
        state.withLock { $0.inbox.count >= Self.mostWaiting || $0.inboxBytes >= Self.mostWaitingBytes }
    }

    var account: String { context.user.name ?? "address " + peer }

    var bytesInMemory: Int { state.withLock { $0.inboxBytes + $0.turnBytes + $0.lateBytes + $0.blobs.bytes } }

    /// Whether an answer of some bytes may be made.
    func hasRoom(for bytes: Int) -> Bool { budget.hasRoom(for: account, bytes: bytes) }

    /// The memory of all connections.
    var budget: MobileBudget { context.service(\.mobile).budget }

    /// The connection, until it has ended.
    var connection: BLIPConnection? { state.withLock(\.connection) }

    /// The properties that requests of the server about a collection need.
    func properties(of collection: Int) -> [String: String] {
        state.withLock { $0.collections.properties(of: collection) }
    }

    func take(_ message: BLIPMessage) {
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

    func note(_ error: any Error) {
        context.options.log?.warning(
            "a mobile connection is closed: \(error)", ["database": context.parameter("db"), "peer": peer])
    }

    /// Records a change that the client could not look up.
    func noteUnreadable(_ change: PulledRevision, _ error: BLIPError, _ collection: Int) {
        let database = state.withLock { $0.collections.databases[collection] } ?? context.parameter("db")
        let fault = "a mobile client can't look it up, so it is left out of that connection: \(error)"
        let entry = LeftOutDocuments.Entry(id: change.id, revision: change.revision, fault: fault)
        for entry in context.service(\.mobile).leftOut.note([entry], offering: [], in: database) {
            context.options.log?.warning(
                entry.fault, ["database": database, "id": entry.id.string, "peer": peer])
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
