internal import SettleCore
internal import SettleDatabase

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
    /// How many more bytes to accept.
    private var rest: Int
    private var found = 0
    private var foundBytes = 0

    /// - Parameters:
    ///   - requests: The requests.
    ///   - budget: How many bytes of revisions to accept.
    ///   - place: How messages name the server and the path.
    init(_ requests: [RevisionRequest], budget: Int, place: String) {
        self.requests = requests
        self.place = place
        rest = budget
        answers = Array(repeating: nil, count: requests.count)
    }

    /// Whether the budget is used up and there is at least one answer.
    var isFull: Bool { rest <= 0 && next > 0 }

    /// Whether everything is answered.
    var isComplete: Bool { next == requests.count }

    /// How many bytes a found revision had on average; `nil` if none was found.
    var averageBytes: Int? { found == 0 ? nil : foundBytes / found }

    /// The answers, in order, up to the first request without one.
    var result: [RevisionAnswer] { answers[..<next].compactMap(\.self) }

    /// Takes a row. A row about an unrequested document is ignored; an unreadable row counts as the answer to the next
    /// request.
    mutating func take(_ element: JSONElements.Element) {
        guard case .bytes(let text) = element else {
            let error = PeerError(
                .tooLarge, "a document of \(place) is larger than a revision may be", isTransient: false)
            return answer(next, .failed(error))
        }
        let row: BulkGetAnswer
        do { row = try BulkGetAnswer(text) } catch { return answer(next, .failed(PeerError(error, at: place))) }
        for entry in row.entries {
            switch entry {
            case .document(let range): take(row.id, UnsafeBufferPointer(rebasing: text[range]))
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

    private mutating func take(_ id: String, _ document: UnsafeBufferPointer<UInt8>) {
        let fetched: FetchedRevision
        do { fetched = try FetchedRevision(document) } catch {
            // One unreadable document does not stop the others.
            if let index = index(of: id, nil) { answer(index, .failed(PeerError(error, at: place))) }
            return
        }
        guard let index = index(of: fetched.id, fetched.history.revision), answers[index] == nil else { return }
        let revision = fetched.revision(for: requests[index])
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

    /// What an error about one revision means.
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

extension FetchedRevision {
    /// The revision, as an answer to a request. Attachments that arrived without content, and that the target lacks,
    /// stay stubs until ``CouchDBPeer`` decides where their content comes from.
    func revision(for request: RevisionRequest) -> PeerRevision {
        PeerRevision(
            id: request.id, history: history, isDeleted: isDeleted, isDeletionAtSource: request.isDeletionAtSource,
            body: body,
            attachments: attachments.map { stub in
                PeerAttachment(
                    name: stub.name, contentType: stub.contentType, revpos: stub.revpos, digest: stub.digest,
                    length: stub.length, encodedLength: stub.encodedLength, encoding: stub.encoding,
                    content: stub.data.map { .bytes($0) } ?? .stub)
            })
    }
}
