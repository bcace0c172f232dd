internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

extension CouchDBPeer {
    /// The content of revisions; see ``Peer/revisions(_:budget:)``.
    ///
    /// One `_bulk_get` fetches documents with their attachments as stubs. A second one fetches the small attachments
    /// that the target lacks; larger ones are streamed one by one. Without `_bulk_get` at the server, each document is
    /// fetched with its own request.
    package func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        guard !requests.isEmpty else { return [] }
        let (lacksBulkGet, usual) = learnt.withLock { ($0.lacksBulkGet, $0.revisionBytes) }
        // Revisions that would exceed the budget are not requested: dropping the rest of a response costs its
        // connection.
        let fitting = usual > 0 ? max(1, budget / usual * 5 / 4) : requests.count
        let asked = Array(requests.prefix(fitting))
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
                matcher.take(element)
                return !matcher.isFull || matcher.isComplete
            }
        } catch let error as PeerError where error.isTransient && !matcher.result.isEmpty {
            // Each complete row is valid, even if the others are lost.
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

    /// Confirms with a request that every CouchDB answers with 200 that an intermediary did not cause a refusal: a
    /// revision mistaken for missing would never be replicated.
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
            let fetched = try bytes.withUnsafeBufferPointer { try FetchedRevision($0) }
            guard fetched.history.revision == request.revision else {
                return .missing(
                    reason: "\(calls.place(path)) has \(fetched.history.revision) in place of \(request.revision)")
            }
            return .found(fetched.revision(for: request))
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
    /// Whether the error may say that a revision is missing, or not readable for this user.
    fileprivate var isAboutOneDocument: Bool { code == .forbidden || status == 404 && !isAboutDatabase }

    /// Whether a `_bulk_get` response says that the server does not support it.
    fileprivate var saysNoBulkGet: Bool {
        guard let status, cause is CouchDBError else { return false }
        return [400, 404, 405, 501].contains(status) && !isAboutDatabase
    }
}
