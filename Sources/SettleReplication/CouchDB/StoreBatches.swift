internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Sends revisions with `_bulk_docs` in requests of bounded size.
struct StoreBatches {
    let peer: CouchDBPeer
    let calls: PeerCalls
    let revisions: [PeerRevision]
    let branching: Branching
    private static let path: HTTPPath = "_bulk_docs"
    /// The smallest request size that is learned from refusals.
    private static let leastBytes = 64 << 10

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

    /// As many as fit into a request: whole documents or, if one is too large, some of its leaves.
    private func next(_ indices: ArraySlice<Int>) -> ArraySlice<Int> {
        let limit = peer.learnt.withLock { $0.requestBytes }
        var bytes = 0
        let fitting = indices.prefix { index in
            bytes += DocumentBytes.estimate(revisions[index])
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
            DocumentBytes.append(revisions[index], contents: .inline, to: &body)
        }
        body += Array("]}".utf8)
        let bytes = body.count
        let answer: [UInt8]
        do { answer = try await calls.bytes("POST", Self.path, json: body) } catch let error as PeerError {
            guard let status = error.status, [400, 412, 413].contains(status) else { throw error }
            if batch.count == 1, let index = batch.first { return [(index, Self.outcome(of: error, revisions[index]))] }
            if status == 413 {
                peer.learnt.withLock { $0.requestBytes = min($0.requestBytes, max(Self.leastBytes, bytes / 2)) }
            }
            let middle = self.middle(of: batch)
            return try await send(batch[..<middle]) + send(batch[middle...])
        }
        do { return outcomes(of: batch, try BulkDocsAnswer(answer)) } catch {
            throw PeerError(error, at: calls.place(Self.path))
        }
    }

    /// Where to split a batch: between two documents if possible.
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

    /// What an error that only one revision can have caused means for it.
    static func outcome(of error: PeerError, _ revision: PeerRevision) -> StoreOutcome {
        let told = PeerError(
            error.code, "\(revision.revision) of \"\(revision.id)\": \(error.message)", status: error.status,
            retryAfter: error.retryAfter, isTransient: error.isTransient, cause: error.cause)
        // A 400 that is not CouchDB's is not a verdict on the document; an intermediary may have caused it.
        let isForeign = error.status == 400 && (error.cause as? CouchDBError)?.error.isEmpty == true
        return error.code == .attachmentMissing || isForeign ? .failed(told) : .refused(told)
    }

    private static func outcome(
        of refusal: BulkDocsAnswer.Refusal, _ revision: PeerRevision, at place: String
    ) -> StoreOutcome {
        func told(_ code: PeerError.Code, _ status: Int?) -> PeerError {
            PeerError(
                code,
                "\(place) did not take \(revision.revision) of \"\(revision.id)\": \(refusal.error): "
                    + refusal.reason.prefix(500),
                status: refusal.status ?? status)
        }
        switch refusal.error {
        case "forbidden": return .refused(told(.forbidden, 403))
        case "unauthorized": return .refused(told(.unauthorized, 401))
        case "conflict": return .refused(told(.conflict, 409))
        case "too_large", "document_too_large", "attachment_too_large": return .refused(told(.tooLarge, 413))
        case "missing_stub": return .failed(told(.attachmentMissing, 412))
        case "bad_request", "doc_validation", "illegal_docid", "invalid_design_doc", "compilation_error":
            return .refused(told(.badRequest, 400))
        default:
            if let status = refusal.status, (400..<500).contains(status), status != 429 {
                return .refused(told(.badRequest, status))
            }
            return .failed(told(.serverError, 500))
        }
    }
}
