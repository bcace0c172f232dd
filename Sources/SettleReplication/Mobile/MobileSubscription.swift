internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// One subscription at a server: the pages of changes that the server sends, and the revisions that were requested
/// from them.
///
///     changes ─→ page ─→ which are missing? ─→ answer, once it is known of each row
///     rev     ─→ kept ─→ taken and answered: a server sends few that have no answer, so little waits here
///     changes []     the server has sent all there was
final class MobileSubscription: Sendable {
    /// A revision of a document.
    struct Key: Hashable {
        let id: DocumentID
        let revision: RevisionID
    }

    /// The outcome of a revision.
    enum Revision {
        case arrived(BLIPMessage)
        /// The server does not send it.
        case missing(reason: String)
        /// It was not requested.
        case unknown
    }

    private struct State {
        var pages: [MobilePage] = []
        var unread = Queue<ChangedDocument>()
        var hasReachedEnd = false
        var expected: Set<Key> = []
        var arrived: [Key: Revision] = [:]
        var failure: PeerError?
    }

    /// The time that a request for a revision waits before the subscription answers pages with rows that are not
    /// compared yet.
    private static let patience = Duration.seconds(2)

    private let place: String
    private let respond: @Sendable (BLIPMessage, BLIPMessage) -> Void
    private let state = Guarded(State())
    private let bell = Bell()

    /// - Parameters:
    ///   - place: The name of the server in messages.
    ///   - respond: Answers a message of the server.
    init(_ place: String, respond: @escaping @Sendable (BLIPMessage, BLIPMessage) -> Void) {
        (self.place, self.respond) = (place, respond)
    }

    // MARK: - What comes

    /// Receives a message of the server.
    func receive(_ message: BLIPMessage) {
        switch message.profile {
        case "changes": receiveChanges(message)
        case "rev", "norev": receiveRevision(message)
        default: respond(message, .failure(.noHandler))
        }
    }

    private func receiveChanges(_ message: BLIPMessage) {
        let page: MobilePage
        do { page = try MobilePage(message) } catch {
            respond(message, .failure(.http(400, "the body is not a list of changes")))
            return fail(PeerError(error, at: place))
        }
        guard !page.rows.isEmpty else {
            news { $0.hasReachedEnd = true }
            return respond(message, BLIPMessage(.reply))
        }
        let answered = news { state in
            state.pages.append(page)
            for row in page.rows { if let change = row.change { state.unread.append(change) } }
            return Self.answerable(&state)
        }
        answer(answered)
    }

    private func receiveRevision(_ message: BLIPMessage) {
        guard let key = Key(message), state.withLock({ $0.expected.contains(key) }) else {
            return respond(message, .failure(.http(404, "this revision was not requested")))
        }
        news { state in
            state.expected.remove(key)
            let reason = message.properties["reason"] ?? message.properties["error"] ?? "no reason is given"
            state.arrived[key] =
                message.profile == "rev"
                ? .arrived(message) : .missing(reason: "the server does not send it: \(reason)")
        }
    }

    /// Ends the subscription, because the connection was lost.
    func end() { fail(PeerError(.connectionLost, "the connection to \(place) was lost")) }

    private func fail(_ error: PeerError) { news { $0.failure = $0.failure ?? error } }

    /// Changes the state, and wakes all waiting calls.
    @discardableResult
    private func news<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let result = state.withLock { change(&$0) }
        bell.ring()
        return result
    }

    // MARK: - Changes

    /// The next changes. The list is empty if the server has sent all of them, or sends nothing for a time.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of changes.
    ///   - wait: The time to wait for changes after all were sent; `nil` to return at once.
    /// - Returns: The changes, and whether all were sent.
    /// - Throws: ``PeerError`` if the connection is lost.
    func changes(limit: Int, wait: Duration?) async throws -> (changes: [ChangedDocument], hasReachedEnd: Bool) {
        let deadline = wait.map { ContinuousClock.now + $0 }
        while true {
            try Task.checkCancelled()
            let seen = bell.position
            let next = try state.withLock { state -> ([ChangedDocument], Bool)? in
                var changes: [ChangedDocument] = []
                while changes.count < max(limit, 1), let change = state.unread.popFirst() { changes.append(change) }
                if !changes.isEmpty { return (changes, state.hasReachedEnd && state.unread.isEmpty) }
                if let failure = state.failure { throw failure }
                return state.hasReachedEnd && wait == nil ? ([], true) : nil
            }
            if let next { return next }
            if let deadline, ContinuousClock.now >= deadline { return ([], false) }
            await bell.wait(after: seen, until: deadline)
        }
    }

    /// Records which revisions the target lacks, and answers each page whose rows are all compared.
    func record(missing: [RevisionsDiff], of changes: [ChangedDocument]) {
        let known = Dictionary(missing.map { ($0.id, $0.possibleAncestors) }) { first, _ in first }
        let verdicts = changes.map { change in
            (change.id, MobilePage.Verdict(change: change, ancestors: change.mayHaveLeft ? nil : known[change.id]))
        }
        let byID = Dictionary(verdicts) { first, _ in first }
        let answered = news { state in
            var later: Set<DocumentID> = []
            for index in state.pages.indices.reversed() { state.pages[index].decide(byID, later: &later) }
            return Self.answerable(&state)
        }
        answer(answered)
    }

    /// Removes and returns the pages that can be answered.
    private static func answerable(_ state: inout State) -> [MobilePage] {
        let whole = state.pages.filter(\.isDecided)
        guard !whole.isEmpty else { return [] }
        state.pages.removeAll(where: \.isDecided)
        for page in whole { state.expected.formUnion(page.wanted) }
        return whole
    }

    private func answer(_ pages: [MobilePage]) { for page in pages { respond(page.message, page.answer) } }

    // MARK: - Revisions

    /// Waits for a requested revision.
    ///
    /// - Throws: ``PeerError`` with the code `cancelled`.
    func revision(_ key: Key) async throws -> Revision {
        let start = ContinuousClock.now
        while true {
            try Task.checkCancelled()
            let seen = bell.position
            let (found, isOpen) = state.withLock { state -> (Revision?, Bool) in
                if let found = state.arrived.removeValue(forKey: key) { return (found, false) }
                let isOpen = state.pages.contains { $0.isUndecided(key) }
                guard state.failure == nil, isOpen || state.expected.contains(key) else { return (.unknown, false) }
                return (nil, isOpen)
            }
            if let found { return found }
            let deadline = isOpen ? start + Self.patience : nil
            await bell.wait(after: seen, until: deadline)
            if let deadline, ContinuousClock.now > deadline { answerAll() }
        }
    }

    /// Answers all pages. The answer declines each row that the target has not compared yet. If the target turns
    /// out to lack such a revision, the replication requests it later by the document's id.
    private func answerAll() {
        let pages = news { state in
            for index in state.pages.indices { state.pages[index].decideRest() }
            return Self.answerable(&state)
        }
        answer(pages)
    }
}

extension MobileSubscription.Key {
    init(_ request: RevisionRequest) { self.init(id: request.id, revision: request.revision) }

    /// The revision in a message; `nil` if the message has no id of a document or revision.
    init?(_ message: BLIPMessage) {
        guard let id = message.properties["id"], let text = message.properties["rev"], let revision = RevisionID(text)
        else { return nil }
        self.init(id: DocumentID(unchecked: id), revision: revision)
    }
}

// MARK: - MobilePage

/// A message `changes` of a server: `[[sequence, docID, revID, flags?, size?], …]`, and the decisions which of its
/// revisions are requested.
struct MobilePage {
    /// One row.
    struct Row {
        /// The change; `nil` for a row with an id that is invalid in every database.
        let change: ChangedDocument?
        /// The ancestors that the target has, if the revision is requested; otherwise `nil`.
        var ancestors: [RevisionID]?
        /// Whether it is decided if the revision is requested.
        var isDecided: Bool
    }

    /// The result of comparing a change with the target.
    struct Verdict {
        let change: ChangedDocument
        /// The ancestors that the target has; `nil` if the target lacks nothing.
        let ancestors: [RevisionID]?
    }

    /// The message that has to be answered.
    let message: BLIPMessage
    private(set) var rows: [Row]
    /// The maximum number of ancestors in an answer, and of revisions in a requested history.
    private static let maximumAncestors = 20
    private static let maximumHistory = 1000

    /// Reads a message.
    ///
    /// - Throws: `JSONError` or ``WireFault`` for a body that is not a list of changes.
    init(_ message: BLIPMessage) throws {
        self.message = message
        let body = message.body.isEmpty ? .null : try JSONValue(utf8: message.body)
        // For an empty list Sync Gateway sends null.
        guard let rows = body.isNull ? [] : body.array else { throw WireFault("the changes are not a list") }
        self.rows = rows.map { row in
            guard let sequence = row[0], let id = row[1]?.string.map({ DocumentID(unchecked: $0) }), !id.isLocal,
                let revision = row[2]?.string.flatMap({ RevisionID($0) })
            else { return Row(change: nil, isDecided: true) }
            let flags = row[3]?.bool.map { $0 ? 1 : 0 } ?? row[3]?.int ?? 0
            var change = ChangedDocument(
                sequence: PeerSequence(sequence), id: id, leaves: [revision], isDeleted: flags & 1 != 0)
            // Removed from all channels, or no longer readable for the user.
            change.mayHaveLeft = flags & 6 != 0
            return Row(change: change, isDecided: false)
        }
    }

    /// Whether all rows are decided.
    var isDecided: Bool { rows.allSatisfy(\.isDecided) }

    /// Decides each row by the revisions that the target lacks.
    ///
    /// - Parameters:
    ///   - verdicts: The changes that were compared, by their documents.
    ///   - later: The documents with a later row that is decided; it replaces the earlier ones. The documents of
    ///     this page are added.
    mutating func decide(_ verdicts: [DocumentID: Verdict], later: inout Set<DocumentID>) {
        for index in rows.indices.reversed() where !rows[index].isDecided {
            guard let change = rows[index].change, let verdict = verdicts[change.id] else { continue }
            if verdict.change == change {
                later.insert(change.id)
                rows[index].isDecided = true
                rows[index].ancestors = verdict.ancestors.map { Array($0.prefix(Self.maximumAncestors)) }
            } else if later.contains(change.id) {
                rows[index].isDecided = true
            }
        }
    }

    /// Decides the remaining rows: their revisions are not requested.
    mutating func decideRest() { for index in rows.indices { rows[index].isDecided = true } }

    /// Whether a revision's row is not decided yet.
    func isUndecided(_ key: MobileSubscription.Key) -> Bool {
        rows.contains { !$0.isDecided && $0.change?.id == key.id && $0.change?.leaves.first == key.revision }
    }

    /// The revisions to request.
    var wanted: [MobileSubscription.Key] {
        rows.compactMap { row in
            guard row.ancestors != nil, let change = row.change, let revision = change.leaves.first else { return nil }
            return MobileSubscription.Key(id: change.id, revision: revision)
        }
    }

    /// The answer: for each requested revision a list of its known ancestors, and 0 for the other rows.
    var answer: BLIPMessage {
        let elements = rows.map { row -> JSONValue in
            row.ancestors.map { .array($0.map { .string($0.description) }) } ?? 0
        }
        return BLIPMessage(
            .reply, properties: ["maxHistory": "\(Self.maximumHistory)", "blobs": "true"],
            body: JSONValue.array(elements).utf8)
    }
}
