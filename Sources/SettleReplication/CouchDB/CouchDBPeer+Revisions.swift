package import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

extension CouchDBPeer {
    /// The content of revisions; see ``Peer/revisions(_:budget:)``.
    ///
    /// What came with the changes is taken from there. Of the rest, one `_bulk_get` fetches documents with their attachments as stubs. A second one fetches the small attachments
    /// that the target lacks; larger ones are streamed one by one. Without `_bulk_get` at the server, each document is
    /// fetched with its own request.
    package func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        guard !requests.isEmpty else { return [] }
        let carried = learnt.withLock { $0.carried.dequeue(requests, budget: budget) }
        guard carried.isEmpty else { return carried.map { .found($0) } }
        // Those up to the next one that has come with the changes.
        let apart = learnt.withLock { learnt in requests.prefix { !learnt.carried.has($0) } }
        let (lacksBulkGet, usual) = learnt.withLock { ($0.lacksBulkGet, $0.revisionBytes) }
        // Revisions that would exceed the budget are not requested: dropping the rest of a response costs its
        // connection.
        let fitting = usual > 0 ? max(1, budget / usual * 5 / 4) : apart.count
        let asked = Array(apart.prefix(fitting))
        let calls = try calls()
        var answers: [RevisionAnswer]
        if lacksBulkGet {
            answers = try await singly(asked, budget: budget, calls)
        } else {
            do { answers = try await together(asked, budget: budget, calls) } catch let error as PeerError
                where error.saysNoBulkGet
            {
                learnt.withLock { $0.lacksBulkGet = true }
                answers = try await singly(asked, budget: budget, calls)
            }
        }
        let used = answers.reduce(0) { sum, answer in
            if case .found(let revision) = answer { sum + revision.bytesInMemory } else { sum }
        }
        try await AttachmentFetch(peer: self, requests: asked, calls: calls).complete(
            &answers, budget: max(budget - used, 0))
        return answers
    }

    private func together(
        _ requests: [RevisionRequest], budget: Int, _ calls: PeerCalls
    ) async throws -> [RevisionAnswer] {
        let response = try await calls.stream(
            "POST", "_bulk_get", query: ["revs": "true", "latest": "false", "att_encoding_info": "true"],
            json: WireRequests.bulkGet(requests, tellsKnown: false))
        var matcher = BulkGetMatcher(requests, budget: budget, place: calls.place("_bulk_get"))
        let frame: JSONObject?
        do {
            frame = try await calls.elements(
                of: response, "_bulk_get", "results", longest: options.largestRevision
            ) { element in
                matcher.receive(element)
                return !matcher.isFull || matcher.isComplete
            }
        } catch let error as PeerError where error.isTransient && !matcher.result.isEmpty {
            // Each complete row is valid, even if the remaining ones are lost.
            frame = nil
        }
        if frame != nil { matcher.end() }
        if let bytes = matcher.averageBytes { learnt.withLock { $0.revisionBytes = max(1, bytes) } }
        return matcher.result
    }

    /// Fetches each revision with its own request, several concurrently.
    private func singly(
        _ requests: [RevisionRequest], budget: Int, _ calls: PeerCalls
    ) async throws -> [RevisionAnswer] {
        var answers: [RevisionAnswer] = []
        var rest = budget
        while answers.count < requests.count, rest > 0 || answers.isEmpty {
            let part = requests[answers.count...].prefix(max(1, options.requestsAtOnce))
            let found = try await withThrowingTaskGroup(of: (Int, RevisionAnswer).self) { group in
                for (index, request) in part.enumerated() {
                    group.addTask { (index, try await self.single(request, calls)) }
                }
                var found = [RevisionAnswer?](repeating: nil, count: part.count)
                for try await (index, answer) in group { found[index] = answer }
                return found.compactMap(\.self)
            }
            for answer in found where rest > 0 || answers.isEmpty {
                if case .found(let revision) = answer { rest -= revision.bytesInMemory }
                answers.append(answer)
            }
        }
        return answers
    }

    /// Checks that an intermediary did not cause a refusal, with a request that every CouchDB answers with 200. A
    /// revision that is mistaken for missing would never be replicated.
    private func confirm(
        _ refusal: PeerError, _ request: RevisionRequest, _ calls: PeerCalls
    ) async throws -> RevisionAnswer {
        let asked = JSONValue.array([.string("\(request.revision)")]).description
        do {
            let answer = try await calls.json("GET", .document(request.id), query: ["open_revs": asked])
            let isGone = answer.array?.contains { $0["missing"]?.string == "\(request.revision)" } ?? false
            if isGone { return .missing(reason: refusal.message) }
        } catch let error as PeerError where error.isAboutOneDocument {}
        return .failed(
            PeerError(refusal.code, refusal.message, status: refusal.status, isTransient: true, cause: refusal))
    }

    private func single(_ request: RevisionRequest, _ calls: PeerCalls) async throws -> RevisionAnswer {
        let path = HTTPPath.document(request.id)
        do {
            let response = try await calls.stream(
                "GET", path,
                query: ["rev": request.revision.description, "revs": "true", "att_encoding_info": "true"])
            let bytes = try await response.collect(limit: options.largestRevision)
            let fetched = try bytes.withUnsafeBufferPointer { try PeerRevision(answer: $0) }
            guard fetched.history.revision == request.revision else {
                return .missing(
                    reason: "\(calls.place(path)) has \(fetched.history.revision) in place of \(request.revision)")
            }
            return .found(fetched.requested(by: request))
        } catch let error as PeerError where error.isAboutOneDocument {
            return try await confirm(error, request, calls)
        } catch let error as PeerError where error.code == .serverError {
            return .failed(error)
        } catch let error as PeerError { throw error } catch {
            let told = PeerError(error, at: calls.place(path))
            if told.code == .badAnswer { return .failed(told) }
            throw told
        }
    }
}

extension PeerError {
    /// Whether the error may mean that a revision is missing, or that the user may not read it.
    fileprivate var isAboutOneDocument: Bool { code == .forbidden || status == 404 && !isAboutDatabase }

    /// Whether a `_bulk_get` response means that the server does not support it.
    fileprivate var saysNoBulkGet: Bool {
        guard let status, cause is CouchDBError else { return false }
        return [400, 404, 405, 501].contains(status) && !isAboutDatabase
    }
}

// MARK: - BulkGetMatcher

/// Matches the rows of a `_bulk_get` response with the requests, and counts the bytes.
///
///     requested  a 1-x   b 1-x   b 2-y   c 1-x   d 1-x
///     received   found   found   missing ·  ← next       budget used up: the first three are returned
struct BulkGetMatcher {
    private let requests: [RevisionRequest]
    private let place: String
    private var answers: [RevisionAnswer?]
    /// The first request without an answer.
    private var next = 0
    /// The number of bytes that may still be accepted.
    private var rest: Int
    private var found = 0
    private var foundBytes = 0

    /// - Parameters:
    ///   - requests: The requests.
    ///   - budget: The maximum number of bytes of revisions.
    ///   - place: The server and the path, for messages.
    init(_ requests: [RevisionRequest], budget: Int, place: String) {
        self.requests = requests
        self.place = place
        rest = budget
        answers = Array(repeating: nil, count: requests.count)
    }

    /// Whether the budget is used up and there is at least one answer.
    var isFull: Bool { rest <= 0 && next > 0 }

    /// Whether every request has an answer.
    var isComplete: Bool { next == requests.count }

    /// The average size of a found revision in bytes; `nil` if none was found.
    var averageBytes: Int? { found == 0 ? nil : foundBytes / found }

    /// The answers, in order, up to the first request without one.
    var result: [RevisionAnswer] { answers[..<next].compactMap(\.self) }

    /// Handles a row. A row about a document that was not requested is ignored; an unreadable row counts as the
    /// answer to the next request.
    mutating func receive(_ element: JSONElements.Element) {
        guard case .bytes(let text) = element else {
            let error = PeerError(
                .tooLarge, "a document of \(place) is larger than a revision may be", isTransient: false)
            return answer(next, .failed(error))
        }
        let row: BulkGetAnswer
        do { row = try BulkGetAnswer(text) } catch { return answer(next, .failed(PeerError(error, at: place))) }
        for entry in row.entries {
            switch entry {
            case .document(let range): receive(row.id, UnsafeBufferPointer(rebasing: text[range]))
            case .failure(let revision, let error, let reason):
                guard let index = index(of: row.id, revision) else { continue }
                answer(index, Self.failure(error, reason, requests[index], place))
            }
        }
    }

    /// Answers the remaining requests after the last row.
    mutating func end() {
        for index in answers.indices where answers[index] == nil {
            let request = requests[index]
            let error = PeerError(.badAnswer, "\(place) said nothing about \(request.revision) of \"\(request.id)\"")
            answers[index] = .failed(error)
        }
        next = requests.count
    }

    private mutating func receive(_ id: String, _ document: UnsafeBufferPointer<UInt8>) {
        let fetched: PeerRevision
        do { fetched = try PeerRevision(answer: document) } catch {
            // One unreadable document does not affect the rest.
            if let index = index(of: id, nil) { answer(index, .failed(PeerError(error, at: place))) }
            return
        }
        guard let index = index(of: fetched.id.string, fetched.revision), answers[index] == nil else { return }
        let revision = fetched.requested(by: requests[index])
        rest -= revision.bytesInMemory
        found += 1
        foundBytes += document.count
        answer(index, .found(revision))
    }

    private mutating func answer(_ index: Int, _ answer: RevisionAnswer) {
        guard answers.indices.contains(index), answers[index] == nil else { return }
        answers[index] = answer
        while next < answers.count, answers[next] != nil { next += 1 }
    }

    /// The request that an entry answers, almost always the next one.
    private func index(of id: String, _ revision: RevisionID?) -> Int? {
        func fits(_ index: Int) -> Bool {
            answers[index] == nil && requests[index].id.string.utf8.elementsEqual(id.utf8)
                && (revision == nil || requests[index].revision == revision)
        }
        if next < requests.count, fits(next) { return next }
        return requests.indices.dropFirst(next).first(where: fits)
    }

    /// The answer for an error about one revision.
    static func failure(
        _ error: String, _ reason: String, _ request: RevisionRequest, _ place: String
    ) -> RevisionAnswer {
        let told = "\(place): \(request.revision) of \"\(request.id)\": \(error): \(reason.prefix(500))"
        switch error {
        case "not_found", "forbidden", "unauthorized", "illegal_docid": return .missing(reason: told)
        default: return .failed(PeerError(.serverError, told))
        }
    }
}

extension PeerRevision {
    /// The revision, as an answer to a request.
    func requested(by request: RevisionRequest) -> PeerRevision {
        var revision = self
        (revision.id, revision.isDeletionAtSource) = (request.id, request.isDeletionAtSource)
        return revision
    }
}

// MARK: - BulkGetAnswer

/// A row of a `_bulk_get` response: `{"id": "a", "docs": [{"ok": {…}}, {"error": {…}}]}`.
package struct BulkGetAnswer {
    /// One of the row's entries.
    package enum Entry {
        /// The range of the document's bytes.
        case document(Range<Int>)
        /// The reason why there is no document: the requested revision if reported, the error and the reason.
        case failure(revision: RevisionID?, error: String, reason: String)
    }

    package let id: String
    package let entries: [Entry]

    /// Reads a row.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    package init(_ text: UnsafeBufferPointer<UInt8>) throws {
        let outline = try JSONOutline(text, elementsOf: "docs")
        guard let range = outline["id"], let id = text.string(in: range), let docs = outline.elements else {
            throw WireFault("a row of _bulk_get has no id or no docs")
        }
        self.id = id
        entries = try docs.map { try Self.entry(text, $0) }
    }

    private static func entry(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) throws -> Entry {
        let plain: StaticString = "{\"ok\":{"
        let prefix = UnsafeBufferPointer(start: plain.utf8Start, count: plain.utf8CodeUnitCount)
        // Assumes that the value of `ok` ends before the last brace; parsing it as a document detects a wrong
        // assumption.
        if text[range].starts(with: prefix) { return .document(range.lowerBound + 6..<range.upperBound - 1) }
        let bytes = UnsafeBufferPointer(rebasing: text[range])
        let outline = try JSONOutline(bytes, elementsOf: "ok")
        if let document = outline["ok"] {
            return .document(range.lowerBound + document.lowerBound..<range.lowerBound + document.upperBound)
        }
        guard let failure = outline["error"] else { throw WireFault("a row of _bulk_get is neither ok nor an error") }
        let told = try bytes.json(in: failure)
        return .failure(
            revision: told["rev"]?.string.flatMap { RevisionID($0) },
            error: told["error"]?.string ?? "unknown_error", reason: told["reason"]?.string ?? "")
    }
}
