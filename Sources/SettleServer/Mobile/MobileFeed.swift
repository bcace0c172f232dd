internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// The feed that a client pulls: pages of changes, and the revisions that the client requests from them.
///
///     changes (a page) ─→      ←─ which are wanted        two pages at most are under way
///     rev, rev, …      ─→      ←─ stored                  1,000 at most without an answer
///     changes []       ─→      all was sent; if it is continuous, the next pages follow when there are changes
///
/// LiteCore answers a page with an error if it can't look up one of its documents. Then the two halves of the page
/// are offered before anything else is sent, and so on. A row that fails alone is left out.
///
/// A document is not offered again while an older revision of it is under way. LiteCore says which revisions of a page it wants by
/// what it has stored, and stores later what it wanted of the page before. So it would say that it has its own last edit, and then
/// replace that by the older revision.
///
/// The edits of a database that was opened with version vectors are not offered in the connection that has brought them; see
/// ``UpgradedEdits``.
final class MobileFeed: Sendable {
    private struct State {
        var since: UpdateSequence
        /// The number of pages without an answer.
        var pages = 0
        /// Parts of pages that failed and have to be offered next, and the number of offered parts without an
        /// answer.
        var parts: [[PulledRevision]] = []
        var partsUnderWay = 0
        /// The requested revisions of such parts. They are sent before other requested revisions, because the
        /// client's checkpoint must not pass these changes.
        var wantedOfParts: [PulledRevision] = []
        var wanted: [PulledRevision] = []
        var unanswered = 0
        /// The documents of pages without an answer, and those whose revision is requested or has no answer.
        var underWay: Set<DocumentID> = []
        /// The document that the next page begins with, if it can't be offered yet.
        var held: DocumentID?
        /// Whether the feed has sent the message that ends the stored changes. Deletions are sent only after it.
        var hasSentEnd = false
        /// The database, which is kept open while the feed waits for its next change, and the number of the notice.
        var waiting: (database: Database, notice: Int?)?
        var isOver = false

        var isQuiet: Bool { pages == 0 && wanted.isEmpty && unanswered == 0 && !isDividing && held == nil }
        /// Whether the next page begins with a document that is still being sent.
        var isHeld: Bool { held.map(underWay.contains) ?? false }
        /// Whether the parts of a failed page are being offered.
        var isDividing: Bool { !parts.isEmpty || partsUnderWay > 0 }

        /// Records the answer to a page or a part of one.
        mutating func answered(isPart: Bool) {
            pages -= 1
            if isPart { partsUnderWay -= 1 }
            guard !isDividing else { return }
            wanted.insert(contentsOf: wantedOfParts, at: 0)
            wantedOfParts = []
        }
    }

    private static let maximumPages = 2
    /// The number of documents that are read at a time to fill a page.
    private static let recordsAtOnce = 200
    /// The maximum number of revisions without an answer. Couchbase Lite stores a hundred revisions at a time, or
    /// those of 20 ms, and answers then.
    private static let maximumUnanswered = 1000
    /// The number of bytes in the socket's queue above which no revision is read.
    private static let maximumBytes = 1 << 20
    /// The same limit while memory is scarce.
    private static let fewBytes = 64 << 10
    /// The maximum number of bytes of a page's revisions that are kept between the offer and the sending.
    private static let maximumKeptBytes = 64 << 10

    private let session: Guarded<WeakSession>
    private let collection: Int
    private let batch: Int
    private let isContinuous: Bool
    private let isActiveOnly: Bool
    /// Whether the client knows version vectors, and not only ids of trees.
    let usesVersions: Bool
    private let ids: Set<DocumentID>?
    /// Whether the client has the limits of Couchbase Lite; Settle's own client does not.
    private let hasLimits: Bool
    /// The position that the subscription began at.
    private let start: UpdateSequence
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
        hasLimits = !session.isOwn
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
        start = UpdateSequence(Int64(since.int ?? 0))
        state = Guarded(State(since: start))
    }

    /// Whether a subscription that is not continuous has sent everything.
    var isOver: Bool { state.withLock(\.isOver) }

    /// Ends the feed.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return state.waiting.take()
        }
        if let waiting, let notice = waiting.notice { waiting.database.cancelNotice(notice) }
    }

    /// Sends as much as the limits allow; called in the session's turn.
    func advance() {
        guard let session = session.withLock(\.value), let connection = session.connection, !isOver else { return }
        do {
            let context = try session.checkedContext(of: collection)
            try sendRevisions(context, session, connection)
            while try sendPage(context, session, connection) {}
        } catch {
            // The client connects again, and continues from its checkpoint unless it has lost access.
            session.log(error)
            connection.close(BLIPConnection.mayPass, reason: MobileSession.blipError(for: error).description)
        }
    }

    private func sendRevisions(
        _ context: RequestContext, _ session: MobileSession, _ connection: BLIPConnection
    ) throws {
        let most = session.budget.isTight ? Self.fewBytes : Self.maximumBytes
        let next = state.withLock { state -> [PulledRevision] in
            let room = Self.maximumUnanswered - state.unanswered
            guard room > 0, !state.isDividing, connection.outgoingBytes < most else { return [] }
            let next = Array(state.wanted.prefix(room))
            state.wanted.removeFirst(next.count)
            state.unanswered += next.count
            return next
        }
        guard !next.isEmpty else { return }
        var rest = next[...]
        let (database, attachments) = (try context.database(), try session.attachments(of: context))
        let own = session.properties(of: collection)
        func send(_ stored: Result<ReplicatedRevision?, DatabaseError>) -> Bool {
            guard let change = rest.popFirst() else { return false }
            let message = change.message(stored, attachments, own)
            session.context.metrics.readDocument()
            // If the client refuses a revision, it has to request it again. `norev` has no answer.
            let id = change.id
            connection.send(message) { [weak self, weak session] _ in self?.recordAnswer(about: id, session) }
            if message.isSilent { recordAnswer(about: id, nil) }
            return connection.outgoingBytes < most
        }
        var hasRoom = true
        while hasRoom, let kept = rest.first?.stored { hasRoom = send(.success(kept)) }
        if hasRoom, !rest.isEmpty {
            try database.forEachRevision(rest.map { ($0.id, $0.revision, []) }) { send($0.map { $0?.revision }) }
        }
        // The rest is sent when the client has received these.
        if !rest.isEmpty {
            state.withLock { state in
                state.wanted.insert(contentsOf: rest, at: 0)
                state.unanswered -= rest.count
            }
        }
    }

    private func recordAnswer(about id: DocumentID, _ session: MobileSession?) {
        state.withLock { state in
            state.unanswered -= 1
            state.underWay.remove(id)
        }
        session?.advance()
    }

    /// Sends a page of changes, or reports that there are no more.
    ///
    /// - Returns: Whether there may be another page.
    private func sendPage(
        _ context: RequestContext, _ session: MobileSession, _ connection: BLIPConnection
    ) throws -> Bool {
        if offerPart(session, connection) { return true }
        let database = try context.database()
        if try offerRefused(database, context, session, connection) { return true }
        let (since, skipsDeleted) = state.withLock { state -> (UpdateSequence?, Bool) in
            let mayRead =
                state.pages < Self.maximumPages && state.wanted.isEmpty && state.waiting == nil && !state.isDividing
                && !state.isHeld
            return (mayRead ? state.since : nil, isActiveOnly && !state.hasSentEnd)
        }
        guard let since else {
            // Nothing was changed, but the last answers may have come.
            sendEnd(session, connection)
            return false
        }
        let own = usesVersions ? session.state.withLock { $0.upgrades.arrived(in: collection) } : []
        let (all, last) = try nextPage(of: database, after: since, skipsDeleted: skipsDeleted, without: own)
        let (page, isHeld) = begin(all, last)
        guard !isHeld || !page.isEmpty else { return false }
        guard !page.isEmpty else {
            sendEnd(session, connection)
            wait(for: database, after: last, session)
            return false
        }
        try offerPage(page, context, session, connection)
        return true
    }

    /// Offers a page, except what the client can't store.
    private func offerPage(
        _ page: [PulledRevision], _ context: RequestContext, _ session: MobileSession, _ connection: BLIPConnection
    ) throws {
        let offered: [PulledRevision]
        if hasLimits {
            let kept = session.budget.isTight ? 0 : Self.maximumKeptBytes
            offered = try LeftOutDocuments.offered(among: page, keeping: kept, context)
        } else {
            offered = try LeftOutDocuments.sendable(among: page, context)
        }
        guard !offered.isEmpty else { return }
        state.withLock { state in
            state.pages += 1
            state.underWay.formUnion(offered.lazy.map(\.id))
        }
        offer(offered, isPart: false, session, connection)
    }

    /// Offers documents again that the client's checkpoint has passed, and whose edits were refused; see ``RefusedProposals``. They
    /// have the position of the feed, since the client goes on from the position that it was offered last.
    ///
    /// - Returns: Whether there were any, and room for them.
    private func offerRefused(
        _ database: Database, _ context: RequestContext, _ session: MobileSession, _ connection: BLIPConnection
    ) throws -> Bool {
        let (mayOffer, since) = state.withLock { state in
            (state.pages < Self.maximumPages && state.wanted.isEmpty && !state.isDividing, state.since)
        }
        guard mayOffer, let device = session.device(in: collection) else { return false }
        let refused = context.service(\.mobile).refused.take(batch, of: device)
        guard !refused.isEmpty else { return false }
        let underWay = state.withLock(\.underWay)
        let page = try database.snapshot {
            try refused.compactMap { id -> PulledRevision? in
                // The others come by themselves, or have come.
                guard !id.isDesign, ids?.contains(id) ?? true, !underWay.contains(id),
                    let record = try database.storedRecord(of: id, withContent: false), record.sequence <= start
                else { return nil }
                return PulledRevision(record, at: since, usesVersions: usesVersions)
            }
        }
        if !page.isEmpty { try offerPage(page, context, session, connection) }
        return true
    }

    /// Advances to the position after a page, or to the first document of it that is still being sent.
    ///
    /// - Returns: The changes to offer now, and whether the rest has to wait.
    private func begin(_ page: [PulledRevision], _ last: UpdateSequence) -> ([PulledRevision], isHeld: Bool) {
        state.withLock { state in
            let end = page.firstIndex { state.underWay.contains($0.id) }
            state.held = end.map { page[$0].id }
            state.since = end.map { UpdateSequence(page[$0].sequence.number - 1) } ?? last
            return (Array(page[..<(end ?? page.endIndex)]), end != nil)
        }
    }

    /// The next changes, and the position after them.
    private func nextPage(
        of database: Database, after since: UpdateSequence, skipsDeleted: Bool, without own: Set<UpgradedEdits.Edit>
    ) throws -> ([PulledRevision], UpdateSequence) {
        var (page, last) = ([PulledRevision](), since)
        // One snapshot for the page costs less than one for each read.
        try database.snapshot {
            while page.count < batch {
                let records = try database.records(
                    changedIn: SequenceRange(after: last), limit: Self.recordsAtOnce, withContent: false)
                for record in records {
                    guard page.count < batch else { return }
                    last = record.sequence
                    let isLeftOut = record.id.isDesign || skipsDeleted && record.tree.winner?.isDeleted == true
                    guard !isLeftOut, ids?.contains(record.id) ?? true else { continue }
                    guard let change = PulledRevision(record, usesVersions: usesVersions),
                        own.isEmpty || !change.isOne(of: own)
                    else { continue }
                    page.append(change)
                }
                guard records.isEmpty else { continue }
                // A purge leaves positions without a change, so the next notice must be for later positions.
                last = max(last, try database.lastSequence())
                return
            }
        }
        return (page, last)
    }

    /// Offers the next part of a page that failed.
    ///
    /// - Returns: Whether a part was offered.
    private func offerPart(_ session: MobileSession, _ connection: BLIPConnection) -> Bool {
        let part = state.withLock { state -> [PulledRevision]? in
            guard state.pages < Self.maximumPages, !state.parts.isEmpty else { return nil }
            state.pages += 1
            state.partsUnderWay += 1
            return state.parts.removeFirst()
        }
        if let part { offer(part, isPart: true, session, connection) }
        return part != nil
    }

    private func offer(
        _ changes: [PulledRevision], isPart: Bool, _ session: MobileSession, _ connection: BLIPConnection
    ) {
        connection.send(message(changes, session)) { [weak self, weak session] answer in
            switch answer {
            case .failure(.closed): break
            case .failure(let error): self?.divide(changes, isPart: isPart, because: error, session)
            case .success(let answer): self?.receive(answer, to: changes, isPart: isPart)
            }
            session?.advance()
        }
    }

    /// Queues the halves of a page that the client could not read. A single row is left out instead, and logged.
    private func divide(
        _ changes: [PulledRevision], isPart: Bool, because error: BLIPError, _ session: MobileSession?
    ) {
        if changes.count == 1 { session?.recordUnreadable(changes[0], error, collection) }
        state.withLock { state in
            if changes.count > 1 {
                let middle = changes.count / 2
                state.parts.insert(contentsOf: [Array(changes[..<middle]), Array(changes[middle...])], at: 0)
            } else {
                state.underWay.remove(changes[0].id)
            }
            state.answered(isPart: isPart)
        }
    }

    private func message(_ changes: [PulledRevision], _ session: MobileSession) -> BLIPMessage {
        var properties = session.properties(of: collection)
        properties["Profile"] = "changes"
        let rows = JSONValue.array(changes.map(\.row))
        return BLIPMessage(properties: properties, body: rows.utf8, isSilent: changes.isEmpty)
    }

    /// Records the revisions of a page that the client requests: those whose element of the answer is a list.
    private func receive(_ answer: BLIPMessage, to changes: [PulledRevision], isPart: Bool) {
        let chosen = (try? RequestLimits.value(answer.body))?.array ?? []
        let most = answer.properties["maxHistory"].flatMap { Int($0) }
        let wanted = zip(changes, chosen).filter { $0.1.array != nil }.map { change, known in
            var change = change
            change.isKnownByID = known.array?.contains { $0.string?.utf8.contains(UInt8(ascii: "-")) ?? false } ?? false
            if let most { change.maximumHistory = min(max(most, 0), 1000) }
            return change
        }
        state.withLock { state in
            state.underWay.subtract(changes.lazy.map(\.id))
            state.underWay.formUnion(wanted.lazy.map(\.id))
            if isPart { state.wantedOfParts += wanted } else { state.wanted += wanted }
            state.answered(isPart: isPart)
        }
    }

    /// Sends an empty page once, after the last revision was answered.
    private func sendEnd(_ session: MobileSession, _ connection: BLIPConnection) {
        let sends = state.withLock { state in
            guard state.isQuiet, !state.hasSentEnd else { return false }
            state.hasSentEnd = true
            // Later changes belong to another subscription.
            state.isOver = !isContinuous
            return true
        }
        if sends { connection.send(message([], session)) }
    }

    /// Waits for the next change, if the subscription is continuous.
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
        // The change may have come already.
        state.withLock { if $0.waiting != nil { $0.waiting?.notice = notice } }
    }
}
