internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

extension CouchDBPeer {
    /// Stores revisions; see ``Peer/store(_:branching:)``.
    ///
    ///     no attachments, stubs, small ones stored as they are  ─→ _bulk_docs, all leaves of a document together
    ///     large ones, compressed ones                           ─→ a PUT for each revision, streamed
    ///
    /// A request that is too large for the server, or that it refuses as a whole without naming a document, is
    /// halved and sent again, until only the offending document is left.
    ///
    /// If branches are refused, the server's winners are read first. A Settle server also gets the flag, and checks
    /// whole trees in the transaction that writes. On other servers two things go unnoticed: a concurrent write in
    /// between, and an existing live branch that is not the winner.
    package func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        let calls = try calls()
        var outcomes = [StoreOutcome?](repeating: nil, count: revisions.count)
        if branching == .refused {
            for (index, error) in try await BranchCheck(calls: calls).refusals(of: revisions) {
                outcomes[index] = .refused(error)
            }
        }
        let wanted = revisions.indices.filter { outcomes[$0] == nil }
        let streamed = wanted.filter { revisions[$0].needsStreaming }
        let together = wanted.filter { !revisions[$0].needsStreaming }
        let batches = StoreBatches(peer: self, calls: calls, revisions: revisions, branching: branching)
        for (index, outcome) in try await batches.store(together) { outcomes[index] = outcome }
        for (index, outcome) in try await upload(streamed.map { ($0, revisions[$0]) }, branching, calls) {
            outcomes[index] = outcome
        }
        return outcomes.compactMap(\.self)
    }

    /// Sends each revision with its own request, several concurrently.
    private func upload(
        _ revisions: [(Int, PeerRevision)], _ branching: Branching, _ calls: PeerCalls
    ) async throws -> [(Int, StoreOutcome)] {
        try await withThrowingTaskGroup(of: (Int, StoreOutcome).self) { group in
            var rest = revisions[...]
            var outcomes: [(Int, StoreOutcome)] = []
            func start() {
                guard let (index, revision) = rest.popFirst() else { return }
                group.addTask {
                    (index, try await MultipartUpload(revision, branching: branching, calls: calls).send())
                }
            }
            for _ in 0..<max(1, options.requestsAtOnce) { start() }
            while let outcome = try await group.next() {
                outcomes.append(outcome)
                start()
            }
            return outcomes
        }
    }
}

extension PeerRevision {
    /// Whether an attachment's bytes can't be inlined in the JSON, because it is streamed, or because it is
    /// compressed and would not be stored unchanged.
    fileprivate var needsStreaming: Bool {
        attachments.contains { attachment in
            switch attachment.content {
            case .stub: false
            case .bytes: attachment.encoding != .identity
            case .source: true
            }
        }
    }
}

// MARK: - StoreBatches

/// Sends revisions with `_bulk_docs` in requests of bounded size.
struct StoreBatches {
    let peer: CouchDBPeer
    let calls: PeerCalls
    let revisions: [PeerRevision]
    let branching: Branching
    private static let path: HTTPPath = "_bulk_docs"

    typealias Outcomes = [(Int, StoreOutcome)]

    /// Stores the revisions at some indices.
    ///
    /// - Throws: ``PeerError`` if the server can't store any of them now.
    func store(_ indices: [Int]) async throws -> Outcomes {
        var outcomes: Outcomes = []
        var rest = indices[...]
        while !rest.isEmpty {
            let batch = next(rest)
            rest = rest.dropFirst(batch.count)
            outcomes += try await send(batch)
        }
        return outcomes
    }

    /// As many revisions as fit into a request: whole documents or, if one is too large, some of its leaves.
    private func next(_ indices: ArraySlice<Int>) -> ArraySlice<Int> {
        let limit = peer.learnt.withLock { $0.requestBytes }
        var bytes = 0
        let fitting = indices.prefix { index in
            bytes += revisions[index].estimatedBytes
            return bytes <= limit
        }
        guard let last = fitting.last, fitting.count < indices.count else {
            return fitting.isEmpty ? indices.prefix(1) : fitting
        }
        let id = revisions[last].id
        guard revisions[indices[fitting.endIndex]].id == id else { return fitting }
        let whole = fitting.prefix { revisions[$0].id != id }
        return whole.isEmpty ? fitting : whole
    }

    private func send(_ batch: ArraySlice<Int>) async throws -> Outcomes {
        var body = Array("{\"new_edits\":false,".utf8)
        if branching == .refused { body += Array("\"conflicts\":\"refuse\",".utf8) }
        body += Array("\"docs\":[".utf8)
        for index in batch {
            if index != batch.first { body.append(UInt8(ascii: ",")) }
            revisions[index].wire(.inline).append(to: &body, .bodyLate)
        }
        body += Array("]}".utf8)
        let bytes = body.count
        let answer: [UInt8]
        do { answer = try await calls.bytes("POST", Self.path, json: body) } catch let error as PeerError {
            guard let status = error.status, [400, 412, 413].contains(status) else { throw error }
            if batch.count == 1, let index = batch.first { return [(index, Self.outcome(of: error, revisions[index]))] }
            if status == 413 { peer.learnt.withLock { $0.recordRefusal(of: bytes) } }
            let middle = self.middle(of: batch)
            return try await send(batch[..<middle]) + send(batch[middle...])
        }
        do { return outcomes(of: batch, try BulkDocsAnswer(answer)) } catch {
            throw PeerError(error, at: calls.place(Self.path))
        }
    }

    /// The index at which to split a batch: between two documents if possible.
    private func middle(of batch: ArraySlice<Int>) -> Int {
        let half = batch.startIndex + batch.count / 2
        let boundaries = batch.indices.dropFirst().filter { revisions[batch[$0]].id != revisions[batch[$0 - 1]].id }
        return boundaries.min { abs($0 - half) < abs($1 - half) } ?? half
    }

    private func outcomes(of batch: ArraySlice<Int>, _ answer: BulkDocsAnswer) -> Outcomes {
        guard !answer.refusals.isEmpty else { return batch.map { ($0, .stored) } }
        let refusals = Dictionary(grouping: answer.refusals) { $0.id }
        return batch.map { index in
            let revision = revisions[index]
            let about = refusals[revision.id.string] ?? []
            guard let refusal = about.first(where: { $0.revision == nil || $0.revision == revision.revision }) else {
                return (index, .stored)
            }
            return (index, Self.outcome(of: refusal, revision, at: calls.place(Self.path)))
        }
    }

    /// The outcome of a revision, from an error that only this revision can have caused.
    static func outcome(of error: PeerError, _ revision: PeerRevision) -> StoreOutcome {
        let told = PeerError(
            error.code, "\(revision.revision) of \"\(revision.id)\": \(error.message)", status: error.status,
            retryAfter: error.retryAfter, isTransient: error.isTransient, cause: error.cause)
        // A 400 that does not come from CouchDB is not a verdict on the document; an intermediary may have caused
        // it.
        let isForeign = error.status == 400 && (error.cause as? CouchDBError)?.error.isEmpty == true
        return error.code == .attachmentMissing || isForeign ? .failed(told) : .refused(told)
    }

    private static func outcome(
        of refusal: BulkDocsAnswer.Refusal, _ revision: PeerRevision, at place: String
    ) -> StoreOutcome {
        func refusalError(_ code: PeerError.Code, _ status: Int?) -> PeerError {
            PeerError(
                code,
                "\(place) did not take \(revision.revision) of \"\(revision.id)\": \(refusal.error): "
                    + refusal.reason.prefix(500),
                status: refusal.status ?? status)
        }
        switch refusal.error {
        case "forbidden": return .refused(refusalError(.forbidden, 403))
        case "unauthorized": return .refused(refusalError(.unauthorized, 401))
        case "conflict": return .refused(refusalError(.conflict, 409))
        case "too_large", "document_too_large", "attachment_too_large": return .refused(refusalError(.tooLarge, 413))
        case "missing_stub": return .failed(refusalError(.attachmentMissing, 412))
        case "bad_request", "doc_validation", "illegal_docid", "invalid_design_doc", "compilation_error":
            return .refused(refusalError(.badRequest, 400))
        default:
            if let status = refusal.status, (400..<500).contains(status), status != 429 {
                return .refused(refusalError(.badRequest, status))
            }
            return .failed(refusalError(.serverError, 500))
        }
    }
}

// MARK: - BulkDocsAnswer

/// A `_bulk_docs` response: rows about revisions that were not stored and, from some servers, about stored ones.
struct BulkDocsAnswer {
    /// A revision that was not stored.
    struct Refusal {
        let id: String
        /// The revision; `nil` if the server does not report it.
        let revision: RevisionID?
        let error: String
        let reason: String
        /// The status, if the server reports one, as Sync Gateway does.
        let status: Int?
    }

    let refusals: [Refusal]

    /// Reads a response.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ bytes: [UInt8]) throws {
        guard let rows = try JSONValue(utf8: bytes).array else {
            throw WireFault("the answer of _bulk_docs is not a list")
        }
        refusals = try rows.compactMap { row in
            guard let error = row["error"]?.string else { return nil }
            guard let id = row["id"]?.string else { throw WireFault("a row of _bulk_docs has no id") }
            return Refusal(
                id: id, revision: row["rev"]?.string.flatMap { RevisionID($0) }, error: error,
                reason: row["reason"]?.string ?? "", status: row["status"]?.int)
        }
    }
}

// MARK: - BranchCheck

/// Finds documents that would get a new branch at a server, from the winners in `_all_docs`.
///
/// The rule is that of ``Peer/store(_:branching:)`` for a local database, as far as winners can show it: one of a
/// document's revisions must descend from the server's winner, and at most one of them may be a live leaf.
struct BranchCheck {
    let calls: PeerCalls

    /// The refused revisions with reasons. The revisions of one document are refused together.
    func refusals(of revisions: [PeerRevision]) async throws -> [(Int, PeerError)] {
        let places = Dictionary(grouping: revisions.indices) { revisions[$0].id }
        let winners = try await winners(of: Array(places.keys))
        return places.flatMap { id, indices in
            let winner = winners[id]
            let news = indices.filter { revisions[$0].revision != winner }
            guard !news.isEmpty, makesBranch(news.map { revisions[$0] }, beside: winner) else {
                return [(Int, PeerError)]()
            }
            let stored = winner.map { "\($0), which is at \(calls.place())" } ?? "one another"
            return news.map { index in
                let message =
                    "\(revisions[index].revision) of \"\(id)\" was made apart from \(stored), and branches are refused; "
                    + "pull, settle, and push again"
                return (index, PeerError(.conflict, message, status: 409))
            }
        }
    }

    private func makesBranch(_ news: [PeerRevision], beside winner: RevisionID?) -> Bool {
        if let winner, !news.contains(where: { $0.history.revisions.contains(winner) }) { return true }
        let inner = Set(news.flatMap { $0.history.revisions.dropFirst() })
        return news.count { !$0.isDeleted && !inner.contains($0.revision) } > 1
    }

    private func winners(of ids: [DocumentID]) async throws -> [DocumentID: RevisionID] {
        let body = JSONValue.object(["keys": .array(ids.map { .string($0.string) })]).utf8
        let response = try await calls.stream("POST", "_all_docs", json: body)
        var winners: [DocumentID: RevisionID] = [:]
        _ = try await calls.elements(of: response, "_all_docs", "rows", longest: 1 << 20) { element in
            guard case .bytes(let text) = element else { return true }
            let row = try JSONValue(utf8: text)
            if let id = row["id"]?.string, let revision = row["value"]?["rev"]?.string.flatMap({ RevisionID($0) }) {
                winners[DocumentID(unchecked: id)] = revision
            }
            return true
        }
        return winners
    }
}
