internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

extension CouchDBPeer {
    /// The content of revisions; see ``Peer/revisions(_:budget:)``.
    ///
    /// One `_bulk_get` brings documents with their attachments as stubs. Small attachments that the target lacks come by a
    /// second one, all together; others are read one by one when they are wanted. A server without `_bulk_get` is asked for
    /// each document.
    public func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        guard !requests.isEmpty else { return [] }
        let (lacksBulkGet, usual) = learnt.withLock { ($0.lacksBulkGet, $0.revisionBytes) }
        // What would not fit is not asked for: dropping the rest of an answer costs its connection.
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
        var intake = RevisionIntake(requests, budget: budget, place: calls.place("_bulk_get"))
        let frame: JSONObject?
        do {
            frame = try await calls.elements(
                of: response, "_bulk_get", "results", longest: options.largestRevision
            ) { element in
                intake.take(element)
                return !intake.isFull || intake.isComplete
            }
        } catch let error as PeerError where error.isTransient && !intake.result.isEmpty {
            // Each answer that is whole is good, whatever became of the others.
            frame = nil
        }
        if frame != nil { intake.end() }
        if let bytes = intake.averageBytes { learnt.withLock { $0.revisionBytes = max(1, bytes) } }
        return intake.result
    }

    /// Asks for each revision by itself, several at once.
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

    /// A refusal that may be somebody's on the way is confirmed by a question that every CouchDB answers with 200: to take a
    /// revision for gone by mistake would leave it out for good.
    private func confirm(
        _ refusal: PeerError, _ request: RevisionRequest, _ calls: PeerCalls
    ) async throws -> RevisionAnswer {
        let asked = JSON.array([.string("\(request.revision)")]).description
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
    /// Whether it may say that a revision is not there, or not for this user.
    fileprivate var isAboutOneDocument: Bool { code == .forbidden || status == 404 && !isAboutDatabase }

    /// Whether an answer to `_bulk_get` says that the server has none.
    fileprivate var saysNoBulkGet: Bool {
        guard let status, cause is CouchDBError else { return false }
        return [400, 404, 405, 501].contains(status) && !isAboutDatabase
    }
}
