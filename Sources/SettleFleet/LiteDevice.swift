internal import SettleCore
internal import SettleMobile
internal import SettlePlatform

/// A model of a device with Couchbase Lite: its documents, and a replicator that behaves like LiteCore's.
///
/// A server depends on these facts, which were read from LiteCore's public source:
///
/// - A proposal that is refused with 409 counts as done. It is made again only if the app edits the document, if
///   the refusal names a revision from which the current one descends, or if the same replication learns of another
///   revision of the server.
/// - A revision that fails with an error that is not transient counts as done too, in both directions.
/// - A `changes` message with one row that LiteCore can't process is answered with an error as a whole.
/// - A document with `_attachments` is refused if one of its blobs is not listed there.
/// - A connection that the server closes stops the replicator for good, unless the status is 1001 or 4001.
/// - It pushes and pulls at the same time, and stores a hundred revisions at a time, or what has come in 20 ms. So it may say which
///   changes it wants before it stores what it wanted before, and before it records what it has pushed. Each third replication of the
///   model does, and each sixth pushes before it reads the first changes. So does the first one after an upgrade.
final class LiteDevice {
    /// The kind of a device's database.
    enum Kind: String, CaseIterable {
        case tree
        case vector
        /// A database of revision trees that is opened with version vectors later.
        case upgraded
    }

    let name: String
    let kind: Kind
    let resolver: LiteResolver
    private(set) var documents: [String: any LiteDocument] = [:]
    /// The documents that the next replication proposes.
    private var pending: Set<String> = []
    private(set) var contents: [String: [UInt8]] = [:]
    private var clock: LiteClock
    private var usesVectors: Bool
    /// The position up to which it has pulled.
    private var since: JSONValue = .null
    /// The reason why its replicator has stopped permanently.
    private(set) var stop: String?
    /// The errors of single documents, which an app sees.
    private(set) var errors: [String] = []
    /// The number of conflicts that were settled after the last replication.
    private(set) var settled = 0
    /// A log of the last replication.
    private(set) var log: [String] = []
    private var replications = 0
    private var isConcurrent = false
    /// The revisions that the server has, and that are not recorded as such yet.
    private var unrecorded: [String: String] = [:]

    init?(_ name: String, _ kind: Kind, _ resolver: LiteResolver, clock start: UInt64) {
        guard let clock = LiteClock(name: Array((name + "0123456789abcdef").utf8.prefix(16)), start: start) else {
            return nil
        }
        (self.name, self.kind, self.resolver, self.clock) = (name, kind, resolver, clock)
        usesVectors = kind == .vector
    }

    // MARK: - The app

    /// The document as the app sees it; `nil` for a deleted one.
    func body(_ id: String) -> JSONObject? {
        documents[id].flatMap { $0.current.isDeleted ? nil : $0.current.body }
    }

    /// The documents whose last edit the server lacks, and which no replication will send.
    var unsent: [String] { documents.filter { $0.value.proposal != nil }.keys.sorted() }
    var conflicts: [String] { documents.filter { $0.value.conflict != nil }.keys.sorted() }

    /// Saves a document; `nil` deletes it.
    func save(_ id: String, _ body: JSONObject?, at time: UInt64) {
        clock.advance(to: time)
        if var document = documents[id] {
            document.edit(body ?? [:], isDeleted: body == nil, &clock)
            documents[id] = document
        } else if usesVectors {
            documents[id] = LiteVectorDocument(body ?? [:], isDeleted: body == nil, &clock)
        } else {
            var tree = LiteTree()
            tree.edit(body ?? [:], isDeleted: body == nil, &clock)
            documents[id] = tree
        }
        pending.insert(id)
    }

    /// A member for a blob; stores its content.
    func blob(_ content: [UInt8]) -> JSONValue {
        let digest = MobileDigest.of(content)
        contents[digest] = content
        return [
            "@type": "blob", "digest": .string(digest), "content_type": "text/plain",
            "length": .number(JSONNumber(content.count)),
        ]
    }

    /// Opens the database with version vectors from now on.
    func upgrade() {
        guard kind == .upgraded, !usesVectors else { return }
        (usesVectors, replications) = (true, 5)
        for (id, document) in documents {
            if let tree = document as? LiteTree { documents[id] = LiteVectorDocument(tree, clock.source) }
        }
    }

    /// Resets the position up to which it has replicated.
    func resetCheckpoint() { (pending, since) = (Set(documents.keys), .null) }

    // MARK: - The replicator

    /// Replicates once in both directions, and then settles all conflicts.
    ///
    /// - Returns: The number of revisions that were transferred or written.
    func sync(_ server: FleetServer) throws -> Int {
        guard stop == nil else { return 0 }
        (log, settled) = ([], 0)
        replications += 1
        isConcurrent = replications.isMultiple(of: 3)
        let line = server.connect()
        defer {
            line.end()
            recordPushed()
        }
        var waiting: [String: LiteProposal] = [:]
        var moved = 0
        do {
            _ = try line.checkpoint(of: name)
            // The revisions to push are read before the first revision comes.
            if !isConcurrent { moved += try push(line, &waiting) }
            let retries = try pull(line, &waiting, &moved)
            for id in retries where waiting[id]?.name == documents[id]?.proposal?.name { pending.insert(id) }
            moved += try push(line, &waiting)
        } catch let error as BLIPError where error == .closed {
            let status = line.status ?? 0
            if ![1001, 4001].contains(status) { stop = "the connection was closed with \(status)" }
        }
        for (id, var document) in documents.sorted(by: { $0.key < $1.key }) where document.conflict != nil {
            document.resolve(resolver, &clock)
            documents[id] = document
            pending.insert(id)
            settled += 1
        }
        return moved + settled
    }

    // MARK: - Push

    /// Handles the answers to proposals.
    private func push(_ line: MobileLine, _ waiting: inout [String: LiteProposal]) throws -> Int {
        var rows: [(id: String, proposal: LiteProposal)] = pending.sorted().compactMap { id in
            documents[id]?.proposal.map { (id, $0) }
        }
        pending = []
        var moved = 0
        while !rows.isEmpty {
            let body = JSONValue.array(
                rows.map { row in
                    .array(
                        ([row.id, row.proposal.name] + [row.proposal.known].compactMap(\.self)).map { .string($0) })
                })
            let properties = ["Profile": "proposeChanges", "conflictIncludesRev": "true"]
            let reply = try line.ask(BLIPMessage(properties: properties, body: body.utf8))
            let answers = try JSONValue(utf8: reply.body.isEmpty ? Array("[]".utf8) : reply.body)
            log.append("proposes \(body): \(answers)")
            let maxHistory = reply.properties["maxHistory"].flatMap { Int($0) } ?? 50
            var again: [(id: String, proposal: LiteProposal)] = []
            for (index, row) in rows.enumerated() {
                let answer = answers[index] ?? 0
                switch answer.int ?? answer["status"]?.int ?? 0 {
                case 0: moved += try send(row.id, row.proposal, maxHistory, line)
                case 304: notePushed(row.id, row.proposal.name)
                case 409:
                    let theirs = answer["rev"]?.string
                    if let theirs, theirs != row.proposal.known, documents[row.id]?.descends(from: theirs) == true {
                        again.append((row.id, LiteProposal(name: row.proposal.name, known: theirs)))
                    } else {
                        waiting[row.id] = row.proposal
                    }
                case let status: errors.append("\(row.id): \(status) to a proposal")
                }
            }
            rows = again
        }
        return moved
    }

    private func send(
        _ id: String, _ proposal: LiteProposal, _ maxHistory: Int, _ line: MobileLine
    ) throws -> Int {
        guard let document = documents[id] else { return 0 }
        var properties = document.properties(known: proposal.known, maxHistory: maxHistory)
        (properties["Profile"], properties["id"], properties["sequence"]) = ("rev", id, "1")
        let message = BLIPMessage(properties: properties, body: JSONValue.object(document.current.body).utf8)
        log.append("sends \(id) \(properties["rev"] ?? ""); \(properties["history"] ?? "")")
        for attempt in 0..<2 {
            do {
                _ = try line.ask(message) { [contents] request in Self.content(request, contents) }
                notePushed(id, document.current.name)
                return 1
            } catch let error as BLIPError where error != .closed {
                // An error 403 is retried once; a transient error is retried in the next replication.
                if error.code == 403, attempt == 0 { continue }
                if [408, 429, 502, 503, 504].contains(error.code) { pending.insert(id) }
                errors.append("\(id): \(error.code) \(error.description)")
                return 0
            }
        }
        return 0
    }

    /// Notes that the server has a revision. A concurrent replication records it later.
    private func notePushed(_ id: String, _ name: String) {
        unrecorded[id] = name
        if !isConcurrent { recordPushed() }
    }

    private func recordPushed() {
        for (id, name) in unrecorded where documents[id]?.current.name == name { documents[id]?.markSynced() }
        unrecorded = [:]
    }

    /// Answers a question of the server for a content.
    private static func content(_ request: BLIPMessage, _ contents: [String: [UInt8]]) -> BLIPMessage {
        guard request.profile == "getAttachment", let content = contents[request.properties["digest"] ?? ""] else {
            return .failure(.http(404, "no such blob"))
        }
        return BLIPMessage(.reply, body: content)
    }

    // MARK: - Pull

    /// Pulls. A concurrent pull pushes before it reads the first page, or once it has answered it, and stores revisions when no more
    /// message comes.
    ///
    /// - Returns: The documents whose refused proposals may be made again.
    private func pull(
        _ line: MobileLine, _ waiting: inout [String: LiteProposal], _ moved: inout Int
    ) throws -> [String] {
        var properties = ["Profile": "subChanges", "batch": "200"]
        if !since.isNull {
            properties["since"] = since.description
        } else if documents.isEmpty {
            properties["activeOnly"] = "true"
        }
        properties["versioning"] = usesVectors ? "version-vectors" : "rev-trees"
        _ = try line.ask(BLIPMessage(properties: properties))
        if replications.isMultiple(of: 6) { moved += try push(line, &waiting) }
        var (retries, last, pushes, held) = ([String](), since, isConcurrent, [BLIPMessage]())
        while true {
            guard let request = line.next() else {
                guard line.isOpen else { throw BLIPError.closed }
                guard !held.isEmpty else {
                    throw LiteFault(domain: "fleet", code: 1, message: "the server sends neither changes nor their end")
                }
                recordPushed()
                for request in held { moved += try take(request, line) }
                held = []
                continue
            }
            switch request.profile {
            case "changes":
                let rows = try JSONValue(utf8: request.body).array ?? []
                guard !rows.isEmpty else {
                    recordPushed()
                    for request in held { moved += try take(request, line) }
                    since = last
                    if pushes { moved += try push(line, &waiting) }
                    return retries
                }
                let answer = answer(rows, &retries)
                log.append("is offered \(JSONValue.array(rows)): \(String(decoding: answer.body, as: UTF8.self))")
                line.respond(to: request, with: answer)
                recordPushed()
                last = rows.last?[0] ?? last
                if pushes {
                    pushes = false
                    moved += try push(line, &waiting)
                }
            case "rev" where isConcurrent: held.append(request)
            case "rev": moved += try take(request, line)
            case "norev":
                errors.append("\(request.properties["id"] ?? ""): norev \(request.properties["reason"] ?? "")")
            default: line.respond(to: request, with: .failure(.noHandler))
            }
        }
    }

    /// Stores a revision, and answers.
    ///
    /// - Returns: The number of stored revisions.
    private func take(_ request: BLIPMessage, _ line: MobileLine) throws -> Int {
        let id = request.properties["id"] ?? ""
        log.append("gets \(id) \(request.properties["rev"] ?? ""); \(request.properties["history"] ?? "")")
        do {
            try store(request, line)
            line.respond(to: request, with: BLIPMessage(.reply))
            return 1
        } catch let error as LiteFault {
            errors.append("\(id): \(error.domain) \(error.code), \(error.message)")
            line.respond(to: request, with: .failure(BLIPError(error.domain, error.code, error.message)))
            return 0
        }
    }

    private func answer(_ rows: [JSONValue], _ retries: inout [String]) -> BLIPMessage {
        var answers: [JSONValue] = []
        do {
            for row in rows {
                let (id, name) = (row[1]?.string ?? "", row[2]?.string ?? "")
                let isName = name.contains("-") || usesVectors && name.contains("@")
                guard (1...255).contains(id.utf8.count), isName else {
                    throw LiteFault(
                        domain: "LiteCore", code: 22,
                        message: "Invalid docID/revID '\(id)' #\(name) in incoming change list")
                }
                switch try documents[id]?.verdict(on: name) ?? .wanted([]) {
                case .known(isMarked: true): answers.append(0)
                case .known(isMarked: false):
                    documents[id]?.setRemote(name, isPushed: unrecorded[id] != nil)
                    if documents[id]?.conflict == nil { retries.append(id) }
                    answers.append(0)
                case .wanted(let known): answers.append(.array(known.map { .string($0) }))
                }
            }
        } catch let error as LiteFault {
            return .failure(BLIPError(error.domain, error.code, error.message))
        } catch { return .failure(BLIPError("LiteCore", 1, "\(error)")) }
        var properties = ["blobs": "true", "sendReplacementRevs": "true"]
        if !usesVectors { properties["maxHistory"] = "50" }
        return BLIPMessage(.reply, properties: properties, body: JSONValue.array(answers).utf8)
    }

    private func store(_ message: BLIPMessage, _ line: MobileLine) throws {
        guard let id = message.properties["id"], let name = message.properties["rev"] else {
            throw LiteFault(domain: "WebSocket", code: 400, message: "received invalid docID")
        }
        guard id.utf8.count <= 240, !id.utf8.contains(where: { $0 < 32 }) else {
            throw LiteFault(domain: "LiteCore", code: 7, message: "Invalid docID")
        }
        var body = try JSONValue(utf8: message.body.isEmpty ? Array("{}".utf8) : message.body).object ?? [:]
        let listed = body["_attachments"]?.object
        let blobs = Self.digests(of: .object(body.without(where: { $0 == "_attachments" })))
        if let listed {
            let digests = Set(listed.compactMap { $0.value["digest"]?.string })
            if let missing = blobs.first(where: { !digests.contains($0) }) {
                throw LiteFault(
                    domain: "LiteCore", code: 7,
                    message:
                        "There is no content for the blob with digest \(missing) in the attachments for document \(id)")
            }
            let others = listed.without { $0.utf8.starts(with: MobileBlob.prefix.utf8) }
            body = body.without { $0 == "_attachments" }
            if !others.isEmpty { body["_attachments"] = .object(others) }
        }
        for digest in blobs + (body["_attachments"]?.object?.compactMap { $0.value["digest"]?.string } ?? [])
        where contents[digest] == nil {
            do {
                let question = ["Profile": "getAttachment", "digest": digest, "docID": id]
                let content = try line.ask(BLIPMessage(properties: question)).body
                guard MobileDigest.of(content) == digest else {
                    throw LiteFault(domain: "LiteCore", code: 9, message: "CorruptData: the blob \(digest)")
                }
                contents[digest] = content
            } catch let error as BLIPError where error != .closed {
                throw LiteFault(domain: "WebSocket", code: error.code, message: error.description)
            }
        }
        let pulled = LitePull(
            name: name, history: message.properties["history"] ?? "", isDeleted: message.flag("deleted"), body: body)
        if var document = documents[id] {
            try document.insert(pulled, &clock)
            documents[id] = document
        } else if usesVectors {
            documents[id] = try LiteVectorDocument(pulled, &clock)
        } else {
            var tree = LiteTree()
            try tree.insert(pulled, &clock)
            documents[id] = tree
        }
    }

    /// The digests of the blobs in a value.
    static func digests(of value: JSONValue) -> [String] {
        if let members = value.object {
            if members["@type"] == "blob", let digest = members["digest"]?.string { return [digest] }
            return members.flatMap { digests(of: $0.value) }
        }
        return value.array?.flatMap(digests) ?? []
    }
}

extension JSONObject {
    /// The members, except for those with some names.
    func without(where leavesOut: (String) -> Bool) -> JSONObject {
        JSONObject(filter { !leavesOut($0.name) }.map { ($0.name, $0.value) })
    }
}
