internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// Revisions whose blobs are not here: they wait until the client has sent the contents.
extension MobileSession {
    /// Reads a revision; `nil` if it waits for the contents of its blobs.
    func read(
        _ message: BLIPMessage, _ context: RequestContext, _ collection: Int
    ) throws -> PushedRevision? {
        let revision = try PushedRevision(
            message, in: context.database(), collection: collection, limit: context.largestDocument,
            upgrades: state.withLock(\.upgrades), digests: context.service(\.mobile).digests)
        let edit = UpgradedEdits.Edit(id: revision.id, name: message.properties["rev"] ?? "")
        state.withLock { $0.upgrades.remove(edit, in: collection) }
        guard !revision.missing.isEmpty else { return revision }
        guard state.withLock({ $0.blobs.add(revision) }) else {
            throw BLIPError.http(503, "too many revisions wait for their blobs")
        }
        askForBlobs()
        return nil
    }

    private func askForBlobs() {
        while let (question, connection) = state.withLock({ state in
            state.connection.flatMap { connection in state.blobs.next().map { ($0, connection) } }
        }) {
            var properties = properties(of: question.collection)
            properties["Profile"] = "getAttachment"
            properties["digest"] = question.content.digest
            properties["docID"] = question.id.string
            connection.send(BLIPMessage(properties: properties)) { [workers, peer, weak self] answer in
                workers.submit(for: peer) { [weak self] in self?.take(answer, to: question) }
            }
        }
    }

    private func take(_ answer: Result<BLIPMessage, BLIPError>, to question: BlobQueue.Question) {
        do {
            let content = try answer.get().body
            guard content.count <= MobileStub.largestContent else {
                throw BLIPError.http(413, "a content has more than \(MobileStub.largestContent) bytes")
            }
            guard MobileDigest.of(content) == question.content.digest else {
                throw BLIPError.http(400, "the content of a blob does not have its digest \(question.content.digest)")
            }
            let attachment = try checkedContext(of: question.collection).database().makeAttachment(
                question.content.attachmentName, contentType: question.content.contentType, content: content)
            context.service(\.mobile).digests[attachment] = question.content.digest
            schedule { state in
                if let revision = state.blobs.fill(question, with: attachment) { state.complete.append(revision) }
            }
        } catch {
            guard let revision = state.withLock({ $0.blobs.fail(question) }) else { return askForBlobs() }
            connection?.respond(to: revision.message, with: .failure(Self.blipError(for: error)))
        }
        askForBlobs()
    }
}
