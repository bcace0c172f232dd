internal import SettleCore
internal import SettleDatabase

extension CouchDBPeer {
    /// Stores revisions; see ``Peer/store(_:branching:)``.
    ///
    ///     no attachments, stubs, small ones stored as they are  ─→ _bulk_docs, all leaves of a document together
    ///     large ones, compressed ones                           ─→ a PUT for each revision, streamed
    ///
    /// A request that is too large for the server, or that it refuses as a whole without naming a document, is halved
    /// and sent again, down to the one document that is the cause.
    ///
    /// If branches are refused, the server's winners are read first. A Settle server also gets the flag and checks
    /// whole trees in the transaction that writes. With other servers a concurrent write in between goes unnoticed, and
    /// so does an existing live branch, which is not the winner.
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
    /// Whether it has an attachment whose bytes can't be inlined in the JSON: one that is streamed, or compressed,
    /// which would not be stored unchanged.
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
