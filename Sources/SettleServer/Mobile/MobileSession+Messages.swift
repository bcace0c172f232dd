internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// What a client asks, and how it is answered.
extension MobileSession {
    /// Answers messages in their order; revisions of one collection that follow each other are stored together.
    func handle(_ messages: [BLIPMessage], _ complete: [PushedRevision], _ connection: BLIPConnection) {
        var revisions: [PushedRevision] = []
        var contexts: [Int: Result<RequestContext, any Error>] = [:]
        func context(of collection: Int) throws -> RequestContext {
            let known = contexts[collection] ?? Result { try checkedContext(of: collection) }
            contexts[collection] = known
            return try known.get()
        }
        func store() {
            guard let collection = revisions.first?.collection else { return }
            do {
                let answers = MobilePush(context: try context(of: collection)).store(revisions)
                for (revision, answer) in zip(revisions, answers) {
                    connection.respond(to: revision.message, with: answer)
                }
            } catch {
                for revision in revisions {
                    connection.respond(to: revision.message, with: .failure(Self.blipError(for: error)))
                }
            }
            revisions = []
        }
        func begin(_ collection: Int) {
            if revisions.first.map({ $0.collection != collection }) == true { store() }
        }
        // All revisions of a run are placed in one state of the database, which costs less than a state for each.
        func add(_ run: ArraySlice<BLIPMessage>, _ collection: Int, _ context: RequestContext) throws {
            begin(collection)
            try context.database().snapshot {
                for message in run {
                    do { if let revision = try read(message, context, collection) { revisions.append(revision) } } catch
                    {
                        connection.respond(to: message, with: .failure(Self.blipError(for: error)))
                    }
                }
            }
        }
        for revision in complete {
            begin(revision.collection)
            revisions.append(revision)
        }
        var rest = messages[...]
        while let message = rest.first {
            let run = rest.prefix {
                $0.profile == "rev" && $0.properties["collection"] == message.properties["collection"]
            }
            rest.removeFirst(max(run.count, 1))
            do {
                let collection = try state.withLock { try $0.collections.check(message) }
                let context = try context(of: collection)
                guard run.isEmpty else {
                    try add(run, collection, context)
                    continue
                }
                guard hasRoom(for: message, connection) else { continue }
                store()
                let answer =
                    message.profile == "proposeChanges"
                    ? try context.database().snapshot { try respond(to: message, context, collection) }
                    : try respond(to: message, context, collection)
                connection.respond(to: message, with: answer)
            } catch {
                for message in run.isEmpty ? [message] : run {
                    connection.respond(to: message, with: .failure(Self.blipError(for: error)))
                }
            }
        }
        store()
    }

    /// Whether a request is answered now. Else it waits until the client has taken more of what is sent; if nothing is sent that it
    /// could wait for, or too many requests wait, the connection is closed, and the client connects again.
    ///
    /// An error would cost a document: Couchbase Lite that gets one for a blob goes on without the document, and its checkpoint
    /// passes it.
    private func hasRoom(for message: BLIPMessage, _ connection: BLIPConnection) -> Bool {
        let outgoing = connection.outgoingBytes
        let isTight = message.profile == "getAttachment" && !hasRoom(for: MobileStub.largestContent)
        guard isTight || outgoing >= Self.mostOutgoing else { return true }
        let waits = state.withLock { state in
            guard outgoing > 0, state.late.count < Self.mostLate else { return false }
            if !state.isOver { state.late.append(message) }
            return true
        }
        if !waits {
            let error = BLIPError.http(503, "the connections of the account take as much memory as they may")
            note(error)
            connection.close(BLIPConnection.mayPass, reason: error.description)
        }
        return false
    }

    /// The context of a collection's database, after a check that the user may read it.
    func checkedContext(of collection: Int) throws -> RequestContext {
        guard let name = state.withLock({ $0.collections.databases[collection] }) else {
            throw BLIPError.http(404, "there is no collection of this number")
        }
        return try checkedContext(of: name)
    }

    private func checkedContext(of name: String) throws -> RequestContext {
        try context.service(\.access).check(
            .member, context.user, path: [name, "_blipsync"], database: name, method: "GET", in: context.databases)
        return context.of(database: name)
    }

    /// The contents of blobs and attachments of a database.
    func attachments(of context: RequestContext) throws -> MobileAttachments {
        MobileAttachments(database: try context.database(), digests: context.service(\.mobile).digests)
    }

    /// The BLIP error for an error, with the status and the reason that an HTTP response would have.
    static func blipError(for error: any Error) -> BLIPError {
        if let error = error as? BLIPError { return error }
        let error = HTTPError(error)
        return .http(error.status, error.reason)
    }

    private func respond(
        to message: BLIPMessage, _ context: RequestContext, _ collection: Int
    ) throws -> BLIPMessage {
        switch message.profile {
        case "getCheckpoint": return try MobileCheckpoints(database: context.database()).get(message)
        case "setCheckpoint": return try MobileCheckpoints(database: context.database()).set(message)
        case "getCollections": return try choose(message)
        case "proposeChanges":
            let push = MobilePush(context: context) { [state] edit, version in
                state.withLock { $0.upgrades.add(edit, in: collection, beside: version) }
            }
            return try push.proposed(message)
        case "changes": return try MobilePush(context: context).changed(message)
        case "subChanges": return try subscribe(message, collection)
        case "getAttachment": return try attachments(of: context).answer(message)
        // Clients that run in browsers send `PING` to keep a connection.
        case "norev", "PING": return BLIPMessage(.reply)
        default: throw BLIPError.noHandler
        }
    }

    /// Answers `getCollections` with the client's checkpoint in each collection: `{}` if the client has stored no checkpoint,
    /// `null` if the collection has no database.
    private func choose(_ message: BLIPMessage) throws -> BLIPMessage {
        let wanted = try MobileCheckpoints.collections(message)
        var databases: [String?] = []
        let answers = try wanted.map { collection, client -> JSONValue in
            let name = SessionCollections.database(of: collection, in: context.parameter("db"))
            do {
                let database = try name.map { try checkedContext(of: $0).database() }
                databases.append(database == nil ? nil : name)
                return try database.map { try MobileCheckpoints(database: $0).whole(client) } ?? .null
            } catch  where HTTPError(error).status == 404 {
                databases.append(nil)
                return .null
            }
        }
        state.withLock { $0.collections.name(databases) }
        return BLIPMessage(.reply, body: JSONValue.array(answers).utf8)
    }

    private func subscribe(_ message: BLIPMessage, _ collection: Int) throws -> BLIPMessage {
        guard state.withLock({ $0.feeds[collection]?.isOver ?? true }) else {
            throw BLIPError.http(400, "there is a subscription already")
        }
        let feed = try MobileFeed(message, self, collection)
        state.withLock { $0.feeds[collection] = feed }
        return BLIPMessage(.reply)
    }
}
