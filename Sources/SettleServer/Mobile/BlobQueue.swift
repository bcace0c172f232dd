internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// Revisions that wait for the contents of their blobs. Two contents are requested at a time, so that at most two
/// are in memory.
///
///     revision with blobs ─ add ─→ waits ── next ─→ getAttachment ─→ fill ─→ the revision, once it has all
///                                                               └──→ fail ─→ the revision, which is refused
struct BlobQueue {
    /// A content to request.
    struct Question: Sendable {
        /// The number of the message with the waiting revision.
        let number: UInt64
        let collection: Int
        let id: DocumentID
        let content: MobileContent
    }

    private static let maximumRevisions = 64
    private static let maximumBytes = 32 << 20
    private static let maximumQuestions = 2

    private var waiting: [UInt64: PushedRevision] = [:]
    private var questions: [Question] = []
    private var open = 0
    /// The bytes of the waiting messages.
    private(set) var bytes = 0

    /// Adds a waiting revision.
    ///
    /// - Returns: False if there is no room.
    mutating func add(_ revision: PushedRevision) -> Bool {
        let size = revision.message.body.count
        guard waiting.count < Self.maximumRevisions, bytes + size <= Self.maximumBytes || waiting.isEmpty else {
            return false
        }
        bytes += size
        let number = revision.message.number
        waiting[number] = revision
        questions += revision.missing.map {
            Question(number: number, collection: revision.collection, id: revision.id, content: $0)
        }
        return true
    }

    /// The next content to request; `nil` if two requests are open or none is needed.
    mutating func next() -> Question? {
        guard open < Self.maximumQuestions else { return nil }
        while !questions.isEmpty {
            let question = questions.removeFirst()
            // The revision was refused meanwhile.
            guard waiting[question.number] != nil else { continue }
            open += 1
            return question
        }
        return nil
    }

    /// Stores a requested content.
    ///
    /// - Returns: The revision, if it now has all contents.
    mutating func fill(_ question: Question, with content: DocumentAttachment) -> PushedRevision? {
        open -= 1
        waiting[question.number]?.add(content, for: question.content.digest)
        return waiting[question.number]?.missing.isEmpty == true ? remove(question.number) : nil
    }

    /// Records that the client can't send a content.
    ///
    /// - Returns: The revision, unless it was already refused.
    mutating func fail(_ question: Question) -> PushedRevision? {
        open -= 1
        return remove(question.number)
    }

    private mutating func remove(_ number: UInt64) -> PushedRevision? {
        guard let revision = waiting.removeValue(forKey: number) else { return nil }
        bytes -= revision.message.body.count
        return revision
    }
}

// MARK: - Blobs

/// Makes revisions wait until the client has sent the contents of their blobs.
extension MobileSession {
    /// Reads a revision; `nil` if it has to wait for the contents of its blobs.
    func read(
        _ message: BLIPMessage, _ context: RequestContext, _ collection: Int
    ) throws -> PushedRevision? {
        let revision = try PushedRevision(
            message, in: context.database(), collection: collection, limit: context.largestDocument,
            upgrades: state.withLock(\.upgrades), digests: context.service(\.mobile).digests)
        let edit = UpgradedEdits.Edit(id: revision.id, name: message.properties["rev"] ?? "")
        recordArrival(of: edit, in: collection)
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
                workers.submit(for: peer) { [weak self] in self?.receive(answer, to: question) }
            }
        }
    }

    private func receive(_ answer: Result<BLIPMessage, BLIPError>, to question: BlobQueue.Question) {
        do {
            let content = try answer.get().body
            guard content.count <= MobileLimits.largestContent else {
                throw BLIPError.http(413, "a content has more than \(MobileLimits.largestContent) bytes")
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

// MARK: - MobileContent

/// A content that a revision identifies by its SHA-1: of a blob, or of an attachment of CouchDB's kind.
struct MobileContent: Hashable {
    let attachmentName: String
    let digest: String
    let contentType: String
    let revpos: UInt64

    init(_ blob: MobileBlob, revpos: UInt64) {
        (attachmentName, digest, contentType) = (blob.attachmentName, blob.digest, blob.contentType)
        self.revpos = revpos
    }

    /// The content of a stub; `nil` for another attachment, or a stub without a SHA-1.
    init?(_ attachment: WireAttachment) {
        guard case .stub = attachment.content, let digest = attachment.digest, digest.hasPrefix("sha1-") else {
            return nil
        }
        (attachmentName, contentType) = (attachment.name, attachment.contentType)
        (self.digest, revpos) = (digest, attachment.revpos ?? 0)
    }
}
