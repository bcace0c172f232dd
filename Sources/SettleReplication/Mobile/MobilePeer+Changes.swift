internal import SettleCore
internal import SettleCrypto
package import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

extension MobilePeer {
    /// The number of changes in a page from the server.
    private static let batch = 200
    /// The maximum pause before a continuous pull of single documents asks again.
    private static let pauseWithIDs = Duration.seconds(2)
    /// The number of documents that are requested by id at a time.
    private static let maximumByID = 20

    /// The next changes; see ``Peer/changes(_:)``.
    ///
    /// A subscription sends changes from its start on, and continues where the last call ended. A call with another
    /// position, and one that starts over, create a new subscription on a new connection.
    package func changes(_ request: ChangesRequest) async throws -> ChangesPage {
        let key = try Self.subscription(request.filter)
        let isContinuous = key.flag("continuous")
        let feed = try await feed(key, since: request.since, isNew: request.wait == nil || !isContinuous)
        let (changes, isOver) = try await feed.subscription.changes(
            limit: request.limit, wait: isContinuous ? request.wait : nil)
        let last = changes.last?.sequence ?? request.since
        state.withLock { state in
            guard let index = state.feeds.firstIndex(where: { $0.subscription === feed.subscription }) else { return }
            state.feeds[index].position = last
            if isOver, changes.isEmpty { state.feeds[index].isOver = true }
        }
        if !isContinuous, changes.isEmpty, let wait = request.wait {
            // The subscription has ended, and the next call creates another one.
            try? await Task.sleep(for: min(wait, Self.pauseWithIDs))
        }
        return ChangesPage(changes: changes, last: last)
    }

    /// The message that subscribes, without its start position.
    private static func subscription(_ filter: ReplicationFilter) throws -> BLIPMessage {
        var message = BLIPMessage(properties: ["Profile": "subChanges", "batch": "\(batch)"])
        func refused(_ what: String) -> PeerError {
            PeerError(
                .badRequest, "Couchbase Mobile filters by channels and by ids of documents, and not by \(what)",
                status: 400)
        }
        switch filter {
        case .all: message.properties["continuous"] = "true"
        case .documents(let ids):
            // Sync Gateway refuses ids in a continuous subscription.
            message.body = JSONValue.object(["docIDs": .array(ids.map { .string($0.string) })]).utf8
        case .channels(let channels):
            message.properties["filter"] = "sync_gateway/bychannel"
            message.properties["channels"] = channels.joined(separator: ",")
            message.properties["continuous"] = "true"
        case .selector: throw refused("a selector")
        case .named(let name, _): throw refused("the function \(name)")
        }
        return message
    }

    /// The subscription that continues at a position.
    private func feed(_ key: BLIPMessage, since: PeerSequence, isNew: Bool) async throws -> Feed {
        let known = state.withLock { state in
            state.feeds.last { feed in
                feed.key == key && feed.position == since && feed.connection.isOpen && !(isNew && feed.isOver)
            }
        }
        if let known { return known }
        let feed = try await subscribe(key, since: since)
        let old = state.withLock { state in
            // Revisions of the last subscription may still be arriving.
            let old = state.feeds.dropLast()
            state.feeds = state.feeds.suffix(1) + [feed]
            return Array(old)
        }
        for feed in old { feed.connection.close() }
        return feed
    }

    /// Opens a connection, and subscribes to its changes.
    private func subscribe(_ key: BLIPMessage, since: PeerSequence) async throws -> Feed {
        let connection = try await open()
        let subscription = MobileSubscription(connection.place) { [weak connection] message, answer in
            connection?.respond(to: message, with: answer)
        }
        connection.subscription = subscription
        var properties = key.properties
        if !since.isStart, !since.json.isNull { properties["since"] = since.json.description }
        _ = try await connection.ask("subChanges", properties, body: key.body)
        return Feed(connection: connection, subscription: subscription, key: key, position: since)
    }

    /// Tells the server which revisions to send.
    package func reportMissing(_ missing: [RevisionsDiff], of changes: [ChangedDocument]) async {
        for feed in state.withLock(\.feeds) { feed.subscription.record(missing: missing, of: changes) }
    }

    /// The revisions; see ``Peer/revisions(_:budget:)``. If a revision is not arriving because its connection was
    /// lost, it is requested by the id of its document; the server then sends the current revision.
    package func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        var answers: [RevisionAnswer] = []
        var rest = budget
        for request in requests {
            guard let answer = try await revision(request) else { break }
            answers.append(answer)
            if case .found(let revision) = answer { rest -= revision.bytesInMemory }
            guard rest > 0 else { return answers }
        }
        // None of the next revisions is arriving.
        guard answers.isEmpty, !requests.isEmpty else { return answers }
        return try await fetch(Array(requests.prefix(Self.maximumByID)))
    }

    /// An arriving revision; `nil` if it is not arriving.
    private func revision(_ request: RevisionRequest) async throws -> RevisionAnswer? {
        let key = MobileSubscription.Key(request)
        for feed in state.withLock(\.feeds).reversed() {
            switch try await feed.subscription.revision(key) {
            case .unknown: continue
            case .missing(let reason): return .missing(reason: reason)
            case .arrived(let message): return await answer(message, request, feed.connection)
            }
        }
        return nil
    }

    private func answer(
        _ message: BLIPMessage, _ request: RevisionRequest, _ connection: MobileConnection
    ) async -> RevisionAnswer {
        let result: RevisionAnswer
        do { result = try await MobileRevision(message).answer(request, connection) } catch {
            result = .failed(PeerError(error, at: connection.place))
        }
        connection.respond(to: message, with: BLIPMessage(.reply))
        return result
    }

    /// Requests the current revisions of documents.
    private func fetch(_ requests: [RevisionRequest]) async throws -> [RevisionAnswer] {
        let feed = try await subscribe(Self.subscription(.documents(requests.map(\.id))), since: .start)
        defer { feed.connection.close() }
        var answers: [MobileSubscription.Key: RevisionAnswer] = [:]
        while true {
            let (changes, _) = try await feed.subscription.changes(limit: Self.batch, wait: nil)
            guard !changes.isEmpty else { break }
            let keys = changes.map { MobileSubscription.Key(id: $0.id, revision: $0.leaves[0]) }
            let wanted = requests.filter { keys.contains(MobileSubscription.Key($0)) }
            let missing = wanted.map { RevisionsDiff(id: $0.id, missing: [$0.revision]) }
            feed.subscription.record(missing: missing, of: changes)
            // The server reports the end when the last revision was answered.
            for request in wanted {
                let key = MobileSubscription.Key(request)
                switch try await feed.subscription.revision(key) {
                case .arrived(let message): answers[key] = await answer(message, request, feed.connection)
                case .missing(let reason): answers[key] = .missing(reason: reason)
                case .unknown: break
                }
            }
        }
        return requests.map { request in
            answers[MobileSubscription.Key(request)]
                ?? .missing(reason: "it is no longer the document's current revision")
        }
    }
}

// MARK: - MobileRevision

/// A message `rev` of a server: a revision, its history, and its blobs and attachments by their digests.
struct MobileRevision {
    private let message: BLIPMessage

    init(_ message: BLIPMessage) { self.message = message }

    /// The answer to a request for the revision, with the contents of its blobs.
    ///
    /// A revision with other members whose names are reserved is refused, as Settle's server refuses it in a push.
    /// Without these members, the same revision id would have another content, and the next edit would remove them at
    /// the server.
    ///
    /// - Throws: ``PeerError`` if a content can't be fetched; `JSONError`, ``WireFault`` or ``RevisionTreeError`` for a
    ///   message that is not a revision.
    func answer(_ request: RevisionRequest, _ connection: MobileConnection) async throws -> RevisionAnswer {
        let text = message.body.isEmpty ? Array("{}".utf8) : message.body
        let reader = try DocumentReader.read(text, allowsReserved: true)
        guard !reader.reserved.contains(where: { $0.name == "_removed" && $0.value.elementsEqual("true".utf8) }) else {
            return .missing(reason: "it was removed from the user's channels")
        }
        let known = WireDocument.metadataNames.union([WireAttachment.listName])
        if let member = reader.reserved.first(where: { !known.contains($0.name) }) {
            let name = member.name.debugDescription
            let reason = "\(request.revision) of \"\(request.id)\" has the member \(name): names with _ are reserved"
            return .refused(PeerError(.badRequest, reason))
        }
        let document: WireDocument
        do { document = try WireDocument(reader, .answer) } catch let fault as WireDocument.Fault {
            throw WireFault(fault)
        }
        let ancestors = message.properties["history"] ?? ""
        guard let history = RevisionHistory(request.revision.description, history: ancestors) else {
            throw WireFault("the history of \(request.revision) does not count down by one")
        }
        var attachments: [PeerAttachment] = []
        let blobs = MobileBlob.all(in: document.body)
        for blob in blobs {
            attachments.append(
                try await fetch(blob.attachmentName, blob.contentType, blob.digest, history.start, connection))
        }
        // Blobs may be listed too; their members describe them.
        for listed in document.attachments where !MobileBlob.isRepeated(by: listed, among: blobs) {
            guard let digest = listed.digest else {
                throw WireFault("the attachment \"\(listed.name)\" has no digest")
            }
            attachments.append(
                try await fetch(
                    listed.name, listed.contentType, digest, listed.revpos ?? history.start, connection))
        }
        return .found(
            PeerRevision(
                id: request.id, history: history, isDeleted: message.flag("deleted") || document.isDeleted,
                isDeletionAtSource: request.isDeletionAtSource, body: document.body, attachments: attachments))
    }

    private func fetch(
        _ name: String, _ type: String, _ digest: String, _ revpos: UInt64, _ connection: MobileConnection
    ) async throws -> PeerAttachment {
        let properties = ["digest": digest, "docID": message.properties["id"] ?? ""]
        let content = try await connection.ask("getAttachment", properties).body
        guard MobileDigest.of(content) == digest else {
            throw PeerError(.attachmentMissing, "the content of \"\(name)\" is not what its digest \(digest) says")
        }
        let md5 = MD5()
        md5.update(content)
        guard let stored = AttachmentDigest(md5: md5.finish()) else { throw WireFault("\"\(name)\" has no digest") }
        let length = Int64(content.count)
        return PeerAttachment(
            name: name, contentType: type, revpos: revpos, digest: stored, length: length, encodedLength: length,
            encoding: .identity, content: .bytes(content))
    }
}
