internal import SettleCore
package import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

extension MobilePeer {
    /// The number of documents that are proposed at a time.
    private static let maximumProposals = 200

    /// Reports all leaves of all documents as missing, except for design documents, which are not sent.
    /// ``store(_:branching:)`` then asks the server which ones it lacks, and sends these at once: a peer of
    /// Couchbase Lite accepts no more changes until it has the revisions that it has requested.
    package func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        changes.filter { !$0.id.string.utf8.starts(with: "_".utf8) && !$0.leaves.isEmpty }
            .map { RevisionsDiff(id: $0.id, missing: $0.leaves) }
    }

    /// Sends the winner of each document as a child of the server's current revision; see ``Peer/store(_:branching:)``.
    ///
    ///     here                        at the server            sent
    ///     1-a ─ 2-b ─ 3-c             2-b                      3-c
    ///     1-a ─ 2-b ─ 3-c             2-x                      nothing: `conflict`
    ///       └── 2-x ─ 3-deleted       2-x                      3-y: what 3-c says, as a child of 2-x
    ///
    /// The last line is a conflict that was settled here. The id `3-y` depends only on `2-x` and the content. So
    /// every device that settles equally sends the same revision, and the server stores it once.
    ///
    /// A document that no message can carry, for example because of U+0000 in its id, is refused here. A server would
    /// wait for it if it was proposed.
    package func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        var outcomes = [StoreOutcome](repeating: .known, count: revisions.count)
        var places = Dictionary(grouping: revisions.indices) { revisions[$0].id }
        for (id, indices) in places {
            guard let fault = indices.lazy.compactMap({ OutgoingRevision.fault(in: revisions[$0]) }).first else {
                continue
            }
            let name = id.string.prefix(60).debugDescription
            let error = PeerError(.badRequest, "the document \(name) can't be sent: \(fault)", status: 400)
            for index in indices { outcomes[index] = .refused(error) }
            places[id] = nil
        }
        let winners = places.values.map { MobileProposal($0.map { ($0, revisions[$0]) }) }
        let conflicts = try await deliver(winners, &outcomes)
        _ = try await deliver(conflicts, &outcomes)
        return outcomes
    }

    /// An event while revisions are being sent.
    private enum Event: Sendable {
        case answered([(proposal: MobileProposal, answer: MobileProposal.Answer)])
        case sent(MobileProposal, StoreOutcome)
    }

    /// Proposes revisions, and sends each one when the server requests it.
    ///
    ///     proposed          1 … 200   201 … 400   401 … 600
    ///     answered, sent                 1 … 200       201 … 400   401 … 600
    ///
    /// A peer of Couchbase Lite answers no proposal before it has the requested revisions of the previous one. So a
    /// revision is sent without waiting for other answers than its own.
    ///
    /// - Returns: New proposals for documents of which the server has another revision, as descendants of that.
    private func deliver(
        _ proposals: [MobileProposal], _ outcomes: inout [StoreOutcome]
    ) async throws -> [MobileProposal] {
        let connection = try await connection()
        return try await withThrowingTaskGroup(of: Event.self) { group in
            for start in stride(from: 0, to: proposals.count, by: Self.maximumProposals) {
                let part = Array(proposals[start..<min(start + Self.maximumProposals, proposals.count)])
                group.addTask { .answered(Array(zip(part, try await self.propose(part, over: connection)))) }
            }
            var (wanted, again, bytes) = (ArraySlice<MobileProposal>(), [MobileProposal](), 0)
            while let event = try await group.next() {
                switch event {
                case .sent(let proposal, let outcome):
                    outcomes[proposal.index] = outcome
                    bytes -= proposal.contentBytes
                case .answered(let answers):
                    for (proposal, answer) in answers {
                        if answer.code == 0 || answer.code == 409 { refuseOthers(proposal, &outcomes) }
                        switch proposal.step(after: answer) {
                        case .nothing: break
                        case .send: wanted.append(proposal)
                        case .propose(let moved): again.append(moved)
                        case .refuse: outcomes[proposal.index] = refusal(proposal.revision, answer, connection)
                        }
                    }
                }
                while let next = wanted.first, bytes == 0 || bytes + next.contentBytes <= maximumContentBytes {
                    wanted.removeFirst()
                    bytes += next.contentBytes
                    group.addTask { .sent(next, try await self.send(next.revision, over: connection)) }
                }
            }
            return again
        }
    }

    /// Refuses the other leaves, because the server keeps only one branch.
    private func refuseOthers(_ proposal: MobileProposal, _ outcomes: inout [StoreOutcome]) {
        for leaf in proposal.leaves where leaf.index != proposal.index && !leaf.revision.isDeleted {
            outcomes[leaf.index] = .refused(branch(leaf.revision, beside: nil))
        }
    }

    /// Proposes revisions. The server then waits for each revision that it answers with 0, and for no other.
    private func propose(
        _ proposals: [MobileProposal], over connection: MobileConnection
    ) async throws -> [MobileProposal.Answer] {
        let answer = try await connection.ask(
            "proposeChanges", ["conflictIncludesRev": "true"], body: JSONValue.array(proposals.map(\.row)).utf8)
        state.withLock { $0.findsBlobs = answer.flag("blobs") }
        let answers: JSONValue = answer.body.isEmpty ? [] : try JSONValue(utf8: answer.body)
        return proposals.indices.map { MobileProposal.Answer(answers[$0]) }
    }

    private func refusal(
        _ revision: PeerRevision, _ answer: MobileProposal.Answer, _ connection: MobileConnection
    ) -> StoreOutcome {
        guard answer.code != 409 else { return .refused(branch(revision, beside: answer.current)) }
        let error = PeerError(
            .http(answer.code, "\(revision.revision) of \"\(revision.id)\" is refused"), of: "proposeChanges",
            at: connection.place)
        return error.isTransient ? .failed(error) : .refused(error)
    }

    private func send(_ revision: PeerRevision, over connection: MobileConnection) async throws -> StoreOutcome {
        do {
            let outgoing = try await OutgoingRevision(revision, listsBlobs: !state.withLock(\.findsBlobs))
            connection.offer(outgoing.contents)
            defer { connection.withdraw(outgoing.contents.keys) }
            _ = try await connection.ask("rev", outgoing.properties, body: outgoing.body)
            return .stored
        } catch {
            let error = PeerError(error, at: connection.place)
            if error.code == .conflict { return .refused(branch(revision, beside: nil)) }
            // Without a connection nothing else can be stored in this call.
            if error.code == .connectionLost || error.code == .cancelled { throw error }
            return error.isTransient ? .failed(error) : .refused(error)
        }
    }

    private func branch(_ revision: PeerRevision, beside current: RevisionID?) -> PeerError {
        PeerError(
            .conflict,
            """
            \(revision.revision) of "\(revision.id)" was made apart from \(current.map { "\($0), which is at" } ?? "what is at") \
            \(name), and that keeps one branch of a document; pull, settle, and push again
            """, status: 409)
    }
}

// MARK: - OutgoingRevision

/// A message `rev` to a server: a revision, and the contents that the server may request.
struct OutgoingRevision {
    let properties: [String: String]
    let body: [UInt8]
    /// The contents of blobs and attachments, by digest.
    let contents: [String: [UInt8]]

    private static let largest = MobileLimits.largestContent

    /// Reads the contents of a revision's attachments.
    ///
    /// - Parameters:
    ///   - revision: The revision.
    ///   - listsBlobs: Whether to list blobs in `_attachments` too, where Sync Gateway looks for them.
    /// - Throws: ``PeerError`` with code `tooLarge` for a content of more than 20 MiB, and errors of reading a
    ///   content.
    init(_ revision: PeerRevision, listsBlobs: Bool) async throws {
        properties = Self.properties(of: revision)
        let blobs = MobileBlob.digests(in: revision.body)
        var (contents, stubs) = ([String: [UInt8]](), [WireAttachment]())
        for attachment in revision.attachments {
            let content = try await Self.content(of: attachment, of: revision)
            let listed = blobs[ExactText(attachment.name)]
            let digest = listed ?? MobileDigest.of(content)
            contents[digest] = content
            guard listsBlobs || listed == nil else { continue }
            stubs.append(
                WireAttachment(
                    attachment.name, contentType: attachment.contentType, revpos: attachment.revpos, digest: digest,
                    length: Int64(content.count), content: .stub))
        }
        body = revision.body.message(listing: stubs)
        self.contents = contents
    }

    private static func properties(of revision: PeerRevision) -> [String: String] {
        var properties = ["id": revision.id.string, "rev": revision.revision.description, "noconflicts": "true"]
        let history = revision.history.ancestors()
        if !history.isEmpty { properties["history"] = history }
        if revision.isDeleted { properties["deleted"] = "1" }
        return properties
    }

    /// The reason why no message can carry a revision; `nil` if one can.
    static func fault(in revision: PeerRevision) -> String? {
        let common = ["Profile": "rev", "collection": "0"]
        return BLIPMessage(properties: common.merging(properties(of: revision)) { $1 }).fault
    }

    private static func content(of attachment: PeerAttachment, of revision: PeerRevision) async throws -> [UInt8] {
        var stored: [UInt8] = []
        let tooLarge = PeerError(
            .tooLarge,
            "the attachment \"\(attachment.name)\" of \"\(revision.id)\" has more than \(largest) bytes, the most that is sent",
            status: 413)
        switch attachment.content {
        case .stub:
            throw PeerError(
                .attachmentMissing, "the content of \"\(attachment.name)\" of \"\(revision.id)\" did not come")
        case .bytes(let bytes): stored = bytes
        case .source(let source):
            guard attachment.encodedLength <= largest else { throw tooLarge }
            try await source.read(from: 0) { stored += $0 }
        }
        guard stored.count <= largest else { throw tooLarge }
        guard attachment.encoding == .gzip else { return stored }
        guard let content = try Gzip.expand(stored, limit: largest) else { throw tooLarge }
        return content
    }
}
