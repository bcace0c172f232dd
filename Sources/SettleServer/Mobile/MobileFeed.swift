internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// What a client pulls: pages of changes, and the revisions that it wants of them.
///
///     changes (a page) ─→      ←─ which are wanted        two pages at most are under way
///     rev, rev, …      ─→      ←─ stored                  1,000 at most without an answer
///     changes []       ─→      all was sent; if it is continuous, the next pages follow when there are changes
final class MobileFeed: Sendable {
    private struct State {
        var since: UpdateSequence
        /// Pages whose answer has not come.
        var pages = 0
        var wanted: [PulledRevision] = []
        var unanswered = 0
        /// Whether the feed has sent the message that ends the stored changes. Only after it does the feed send deletions.
        var hasSentEnd = false
        /// The database and the number of the notice while the next change is waited for. It is kept open meanwhile.
        var waiting: (database: Database, notice: Int?)?
        var isOver = false

        var isQuiet: Bool { pages == 0 && wanted.isEmpty && unanswered == 0 }
    }

    private static let mostPages = 2
    /// Couchbase Lite stores a hundred revisions at a time, or what has come in 20 ms, and answers then.
    private static let mostUnanswered = 1000
    /// The bytes that wait for the socket from which on no revision is read.
    private static let mostBytes = 1 << 20
    /// The number of such bytes while memory is tight.
    private static let fewBytes = 64 << 10

    private let session: Guarded<WeakSession>
    private let collection: Int
    private let batch: Int
    private let isContinuous: Bool
    private let isActiveOnly: Bool
    /// Whether the client knows version vectors, and not only ids of trees.
    private let usesVersions: Bool
    private let ids: Set<DocumentID>?
    private let state: Guarded<State>

    private struct WeakSession: Sendable {
        weak var value: MobileSession?
    }

    /// Reads the message `subChanges`.
    ///
    /// - Throws: ``BLIPError`` with status 400 for filters and a malformed message.
    init(
        _ message: BLIPMessage, _ session: MobileSession, _ collection: Int
    ) throws {
        self.session = Guarded(WeakSession(value: session))
        self.collection = collection
        if let filter = message.properties["filter"] {
            throw BLIPError.http(400, "this server has no channels and no filter \(filter)")
        }
        usesVersions = message.properties["versioning"] == "version-vectors"
        batch = min(max(message.properties["batch"].flatMap { Int($0) } ?? 200, 1), 1000)
        isContinuous = message.flag("continuous")
        isActiveOnly = message.flag("activeOnly")
        let since = try message.properties["since"].map { try JSONValue(parsing: $0) } ?? .null
        guard since.isNull || since.int.map({ $0 >= 0 }) == true else {
            throw BLIPError.http(400, "`since` must be a sequence of this server")
        }
        let body: JSONValue = message.body.isEmpty ? .null : try RequestLimits.value(message.body)
        ids = body["docIDs"]?.array.map { Set($0.compactMap { $0.string.map { DocumentID(unchecked: $0) } }) }
        state = Guarded(State(since: UpdateSequence(Int64(since.int ?? 0))))
    }

    /// Whether all was sent of a subscription that is not continuous.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Ends it.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return state.waiting.take()
        }
        if let waiting, let notice = waiting.notice { waiting.database.cancelNotice(notice) }
    }

    /// Sends what there is to send, as far as it may; called in the session's turn.
    func advance() {
        guard let session = session.withLock(\.value), let connection = session.connection, !isOver else { return }
        do {
            let database = try session.checkedContext(of: collection).database()
            try sendRevisions(database, session, connection)
            while try sendPage(database, session, connection) {}
        } catch {
            // The client connects again, and goes on from its checkpoint unless it has lost access.
            session.note(error)
            connection.close(BLIPConnection.mayPass, reason: MobileSession.blipError(for: error).description)
        }
    }

    private func sendRevisions(_ database: Database, _ session: MobileSession, _ connection: BLIPConnection) throws {
        let most = session.budget.isTight ? Self.fewBytes : Self.mostBytes
        let next = state.withLock { state -> [PulledRevision] in
            let room = Self.mostUnanswered - state.unanswered
            guard room > 0, connection.outgoingBytes < most else { return [] }
            let next = Array(state.wanted.prefix(room))
            state.wanted.removeFirst(next.count)
            state.unanswered += next.count
            return next
        }
        guard !next.isEmpty else { return }
        var rest = next[...]
        try database.forEachRevision(next.map { ($0.id, $0.revision, []) }) { stored in
            guard let message = rest.popFirst()?.message(stored, from: database, session.properties(of: collection))
            else {
                return false
            }
            session.context.metrics.readDocument()
            // A revision that the client refuses is its to ask for again. `norev` has no answer.
            connection.send(message) { [weak self, weak session] _ in self?.noteAnswer(session) }
            if message.isSilent { noteAnswer(nil) }
            return connection.outgoingBytes < most
        }
        // The others are sent when the client has received these.
        if !rest.isEmpty {
            state.withLock { state in
                state.wanted.insert(contentsOf: rest, at: 0)
                state.unanswered -= rest.count
            }
        }
    }

    private func noteAnswer(_ session: MobileSession?) {
        state.withLock { $0.unanswered -= 1 }
        session?.advance()
    }

    /// Sends a page of changes, or says that there are no more.
    ///
    /// - Returns: Whether there may be another one.
    private func sendPage(_ database: Database, _ session: MobileSession, _ connection: BLIPConnection) throws -> Bool {
        let (since, skipsDeleted) = state.withLock { state -> (UpdateSequence?, Bool) in
            let mayRead = state.pages < Self.mostPages && state.wanted.isEmpty && state.waiting == nil
            return (mayRead ? state.since : nil, isActiveOnly && !state.hasSentEnd)
        }
        guard let since else {
            // Nothing was changed, but the last answers may have come.
            sendEnd(session, connection)
            return false
        }
        var (rows, changes, last) = ([JSONValue](), [PulledRevision](), since)
        // One state for the page and its trees costs less than a state for each.
        try database.snapshot {
            try database.forEachChange(in: SequenceRange(after: since)) { change in
                guard rows.count < batch else { return false }
                last = change.sequence
                let isLeftOut = change.id.isDesign || skipsDeleted && change.isDeleted
                guard !isLeftOut, ids?.contains(change.id) ?? true else { return true }
                let sequence = JSONValue.number(JSONNumber(change.sequence.number))
                var pulled = PulledRevision(id: change.id, revision: change.winner, sequence: change.sequence)
                if usesVersions { pulled.vector = try database.tree(of: change.id).flatMap { VersionVector($0) } }
                let row = [sequence, .string(change.id.string), .string(pulled.name)]
                rows.append(.array(change.isDeleted ? row + [1] : row))
                changes.append(pulled)
                return true
            }
        }
        state.withLock { $0.since = last }
        guard !rows.isEmpty else {
            sendEnd(session, connection)
            wait(for: database, after: last, session)
            return false
        }
        state.withLock { $0.pages += 1 }
        let message = message(rows, session)
        connection.send(message) { [weak self, weak session, weak connection, changes] answer in
            if case .failure(let error) = answer, error != .closed {
                // A page that the client could not read must not count as taken, as it would after the next one.
                session?.note(error)
                connection?.close(1011)
            } else {
                self?.take(try? answer.get(), to: changes)
                session?.advance()
            }
        }
        return true
    }

    private func message(_ rows: [JSONValue], _ session: MobileSession) -> BLIPMessage {
        var properties = session.properties(of: collection)
        properties["Profile"] = "changes"
        return BLIPMessage(properties: properties, body: JSONValue.array(rows).utf8, isSilent: rows.isEmpty)
    }

    /// Records which revisions of a page the client wants: those whose element of the answer is a list.
    private func take(_ answer: BLIPMessage?, to changes: [PulledRevision]) {
        let chosen = answer.flatMap { try? RequestLimits.value($0.body) }?.array ?? []
        let most = answer?.properties["maxHistory"].flatMap { Int($0) }
        let wanted = zip(changes, chosen).filter { $0.1.array != nil }.map { change, known in
            var change = change
            change.isKnownByID = known.array?.contains { $0.string?.utf8.contains(UInt8(ascii: "-")) ?? false } ?? false
            if let most { change.mostHistory = min(max(most, 0), 1000) }
            return change
        }
        state.withLock { state in
            state.pages -= 1
            state.wanted += wanted
        }
    }

    /// Sends an empty page once, when the last revision was answered.
    private func sendEnd(_ session: MobileSession, _ connection: BLIPConnection) {
        let sends = state.withLock { state in
            guard state.isQuiet, !state.hasSentEnd else { return false }
            state.hasSentEnd = true
            // What is changed from now on is for another subscription.
            state.isOver = !isContinuous
            return true
        }
        if sends { connection.send(message([], session)) }
    }

    /// Waits for the next change, if it is continuous.
    private func wait(for database: Database, after sequence: UpdateSequence, _ session: MobileSession) {
        let waits = state.withLock { state in
            guard isContinuous, !state.isOver, state.waiting == nil else { return false }
            state.waiting = (database, nil)
            return true
        }
        guard waits else { return }
        let notice = database.notify(after: sequence) { [weak self, weak session] _ in
            self?.state.withLock { $0.waiting = nil }
            session?.advance()
        }
        // It may have come already.
        state.withLock { if $0.waiting != nil { $0.waiting?.notice = notice } }
    }
}
