import Settle
import SettleDatabase
import SettleMobile
import SettlePlatform
import SettleServer
import Testing

/// What a subscription sends, and what it waits for.
@Suite(.timeLimit(.minutes(5))) struct MobileFeedTests {
    /// A device that answers the requests of a server one by one, when the test says so.
    private final class Device {
        private let device: BLIPConnection
        private let server: BLIPConnection
        private let received: Guarded<[BLIPMessage]>

        init(_ server: BLIPConnection) {
            let received = Guarded<[BLIPMessage]>([])
            (self.server, self.received) = (server, received)
            device = BLIPConnection(
                isServer: false, limits: BLIPLimits(), handler: { message in received.withLock { $0.append(message) } })
        }

        deinit {
            device.end()
            server.end()
        }

        /// Moves what both ends have to say; returns the requests of the server that are new.
        private func move() throws -> [BLIPMessage] {
            while true {
                if let bytes = try device.nextOutput() {
                    try bytes.withUnsafeBytes(server.receive)
                } else if let bytes = try server.nextOutput() {
                    try bytes.withUnsafeBytes(device.receive)
                } else {
                    return received.withLock { received in
                        defer { received = [] }
                        return received
                    }
                }
            }
        }

        func send(_ properties: [String: String], _ body: JSONValue? = nil) throws -> [BLIPMessage] {
            device.send(BLIPMessage(properties: properties, body: body?.utf8 ?? []))
            return try move()
        }

        func answer(_ request: BLIPMessage, _ body: JSONValue? = nil) throws -> [BLIPMessage] {
            device.respond(to: request, with: BLIPMessage(.reply, body: body?.utf8 ?? []))
            return try move()
        }
    }

    private func rows(_ page: BLIPMessage?) throws -> [String] {
        try JSONValue(utf8: try #require(page).body).array?.compactMap { $0[1]?.string } ?? []
    }

    /// LiteCore answers a page by what it has stored, and stores what it wanted of the page before later.
    @Test(arguments: [false, true])
    func `a document is not offered again before the device has stored what it wanted of it`(isPushed: Bool) throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        try database.save(Document(id: "a", body: ["n": 1]))
        try database.save(Document(id: "b", body: ["n": 1]))
        try database.delete("b")
        try database.save(Document(id: "c", body: ["n": 1]))
        let device = Device(server.connect(userAgent: "device"))
        let first = try device.send(["Profile": "subChanges"])
        #expect(first.count == 1)
        #expect(try rows(first.first) == ["a", "b", "c"])
        var revisions = try device.answer(first[0], [[], [], []])
        #expect(revisions.map { $0.properties["id"] } == ["a", "b", "c"])
        // The device makes the deleted document anew, or another client does.
        if isPushed {
            let name = "1-" + String(repeating: "d", count: 32)
            revisions += try device.send(["Profile": "rev", "id": "b", "rev": name, "noconflicts": "1"], ["n": 2])
        } else {
            try database.save(Document(id: "b", body: ["n": 2]))
        }
        try database.save(Document(id: "d", body: ["n": 1]))
        let edited = try #require(try database.document("b")?.revision).description
        // Nothing is offered, nor is the end said.
        var others = try device.answer(revisions[0])
        others += try device.answer(revisions[2])
        #expect(others.isEmpty, "\(others)")
        let next = try device.answer(revisions[1])
        #expect(next.count == 1)
        #expect(try rows(next.first) == ["b", "d"])
        #expect(try JSONValue(utf8: next[0].body)[0]?[2] == .string(edited))
        let rest = try device.answer(next[0], [[], 0])
        #expect(rest.map { $0.properties["rev"] } == [edited])
        let end = try device.answer(rest[0])
        #expect(end.count == 1)
        #expect(try rows(end.first).isEmpty)
    }

    private func change(
        of id: DocumentID, to revision: String, after parent: RevisionID, _ body: JSONValue
    ) -> ([String: String], JSONValue) {
        let properties = [
            "Profile": "rev", "id": id.string, "rev": revision, "history": parent.description, "noconflicts": "1",
        ]
        return (properties, body)
    }

    /// LiteCore stores an id of a tree in the form of versions if it is offered the edit before it has recorded the answer.
    @Test(arguments: [false, true])
    func `an edit from before an upgrade is not offered back in the connection that brought it`(isHere: Bool) throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        try database.save(Document(id: "a", body: ["n": 1]))
        let parent = try #require(try database.document("a")?.revision)
        let name = "2-" + String(repeating: "a", count: 32)
        let (properties, body) = change(of: "a", to: name, after: parent, ["n": 2])
        if isHere { _ = try Device(server.connect(userAgent: "other")).send(properties, body) }
        let device = Device(server.connect(userAgent: "device"))
        var pages: [BLIPMessage] = []
        if isHere {
            let proposal: JSONValue = [["a", .string(name), .string(parent.description)]]
            pages += try device.send(["Profile": "proposeChanges"], proposal)
        } else {
            pages += try device.send(properties, body)
        }
        #expect(try database.document("a")?.revision?.description == name)
        pages += try device.send(["Profile": "subChanges", "continuous": "true", "versioning": "version-vectors"])
        #expect(try pages.flatMap(rows) == [])
        try database.save(Document(id: "b", body: ["n": 1]))
        // A notice of a change comes to the session when its next message does.
        var next = try device.send(["Profile": "getCheckpoint", "client": "device"])
        #expect(try next.flatMap(rows) == ["b"])
        for page in next { _ = try device.answer(page, []) }
        try database.update("a") { $0["n"] = 3 }
        next = try device.send(["Profile": "getCheckpoint", "client": "device"])
        #expect(try next.flatMap(rows) == ["a"])
        // Another connection is offered it, and so is a device with trees.
        for versioning in ["version-vectors", "rev-trees"] {
            let other = Device(server.connect(userAgent: "device"))
            let first = try other.send(["Profile": "subChanges", "versioning": versioning])
            #expect(try rows(first.first) == ["b", "a"])
        }
    }

    @Test func `an edit of a device with trees is offered back`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        try database.save(Document(id: "a", body: ["n": 1]))
        let parent = try #require(try database.document("a")?.revision)
        let device = Device(server.connect(userAgent: "device"))
        var pages = try device.send(["Profile": "subChanges", "continuous": "true", "since": "1"])
        let (properties, body) = change(of: "a", to: "2-" + String(repeating: "a", count: 32), after: parent, ["n": 2])
        pages += try device.send(properties, body)
        #expect(try pages.flatMap(rows) == ["a"])
    }

    @Test(arguments: [false, true])
    func `a document that the checkpoint has passed is offered again when an edit of it was refused`(
        isContinuous: Bool
    ) throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        for id in ["a", "b"] { try database.save(Document(id: DocumentID(unchecked: id), body: ["n": 1])) }
        let last = try database.lastSequence()
        let revision = try #require(try database.document("a")?.revision).description
        let proposal: JSONValue = [["a", .string("2-" + String(repeating: "a", count: 32)), "1-b"]]
        func connect(_ client: String) throws -> Device {
            let device = Device(server.connect(userAgent: "device"))
            _ = try device.send(["Profile": "getCheckpoint", "client": client])
            return device
        }
        var subscription = ["Profile": "subChanges", "since": "\(last.number)"]
        if isContinuous { subscription["continuous"] = "true" }
        let device = try connect("device")
        var pages = try device.send(subscription)
        #expect(try pages.flatMap(rows) == [])
        for page in pages { _ = try device.answer(page, []) }
        pages = try device.send(["Profile": "proposeChanges"], proposal)
        guard !isContinuous else {
            #expect(try pages.flatMap(rows) == ["a"])
            let row = try JSONValue(utf8: pages[0].body)[0]
            #expect(row?[0]?.int == Int(last.number) && row?[2] == .string(revision))
            let revisions = try device.answer(pages[0], [[]])
            #expect(revisions.map { $0.properties["sequence"] } == ["\(last.number)"])
            return
        }
        // Its pull has ended, so the next one brings it, but not that of another device.
        #expect(pages.isEmpty)
        #expect(try connect("other").send(subscription).flatMap(rows) == [])
        pages = try connect("device").send(subscription)
        #expect(try rows(pages.first) == ["a"])
        #expect(try connect("device").send(subscription).flatMap(rows) == [])
    }

    /// Stores documents; returns the last position, and a proposal of edits of them that the server has to refuse.
    private func propose(_ ids: [DocumentID], in database: Database) throws -> (last: UpdateSequence, rows: JSONValue) {
        for id in ids { try database.save(Document(id: id, body: ["n": 1])) }
        let name = JSONValue.string("2-" + String(repeating: "a", count: 32))
        return (try database.lastSequence(), .array(ids.map { [.string($0.string), name, "1-b"] }))
    }

    @Test func `a device that names its checkpoints by collections is offered its refused documents, too`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        let (last, proposal) = try propose(["a"], in: database)
        let names: JSONValue = ["collections": ["_default"], "checkpoint_ids": ["device"]]
        func connect() throws -> Device {
            let device = Device(server.connect(userAgent: "device"))
            _ = try device.send(["Profile": "getCollections"], names)
            return device
        }
        _ = try connect().send(["Profile": "proposeChanges", "collection": "0"], proposal)
        let subscription = ["Profile": "subChanges", "collection": "0", "since": "\(last.number)"]
        #expect(try rows(connect().send(subscription).first) == ["a"])
    }

    @Test func `nothing is remembered of a device whose checkpoint has too long a name`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        let (last, proposal) = try propose(["a"], in: database)
        let checkpoint = ["Profile": "getCheckpoint", "client": String(repeating: "x", count: 501)]
        var device = Device(server.connect(userAgent: "device"))
        _ = try device.send(checkpoint)
        _ = try device.send(["Profile": "proposeChanges"], proposal)
        device = Device(server.connect(userAgent: "device"))
        _ = try device.send(checkpoint)
        let pages = try device.send(["Profile": "subChanges", "since": "\(last.number)"])
        #expect(try pages.flatMap(rows) == [])
    }

    @Test func `refused documents are offered in pages of the client's length`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        let (last, proposal) = try propose(["a", "b", "c"], in: database)
        let device = Device(server.connect(userAgent: "device"))
        _ = try device.send(["Profile": "getCheckpoint", "client": "device"])
        _ = try device.send(["Profile": "proposeChanges"], proposal)
        let pages = try device.send(["Profile": "subChanges", "since": "\(last.number)", "batch": "1"])
        #expect(try pages.map(rows) == [["a"], ["b"]])
        #expect(try device.answer(pages[0], []).map(rows) == [["c"]])
    }

    @Test func `a refused document that was changed meanwhile is offered once`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        try database.save(Document(id: "a", body: ["n": 1]))
        let device = Device(server.connect(userAgent: "device"))
        _ = try device.send(["Profile": "getCheckpoint", "client": "device"])
        try database.update("a") { $0["n"] = 2 }
        let sequence = try database.lastSequence()
        _ = try device.send(
            ["Profile": "proposeChanges"], [["a", .string("2-" + String(repeating: "f", count: 32)), "1-b"]])
        let pages = try device.send(["Profile": "subChanges", "since": "\(sequence.number - 1)"])
        #expect(try rows(pages.first) == ["a"])
        let revisions = try device.answer(pages[0], [[]])
        #expect(revisions.map(\.profile) == ["rev"])
        let end = try device.answer(revisions[0])
        #expect(try end.map(rows) == [[]])
    }

    @Test func `a subscription waits when the newest change was purged and sends the next one`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        for id in ["a", "b"] { try database.save(Document(id: DocumentID(unchecked: id))) }
        let pages = Guarded<[String]>([])
        let answers = Guarded<[BLIPMessage]>([])
        let device = BLIPConnection(
            isServer: false, limits: BLIPLimits(),
            handler: { message in
                pages.withLock { $0.append(String(decoding: message.body, as: UTF8.self)) }
                answers.withLock { $0.append(message) }
            })
        let other = server.connect(userAgent: "device")
        func move() throws {
            while true {
                if let bytes = try device.nextOutput() {
                    try bytes.withUnsafeBytes(other.receive)
                } else if let bytes = try other.nextOutput() {
                    try bytes.withUnsafeBytes(device.receive)
                } else if let message = answers.withLock({ $0.popLast() }) {
                    device.respond(to: message, with: BLIPMessage(.reply, body: Array("[]".utf8)))
                } else {
                    return
                }
            }
        }
        device.send(BLIPMessage(properties: ["Profile": "subChanges", "continuous": "true"]))
        try move()
        #expect(pages.withLock(\.self).last == "[]")
        try database.purge("b")
        try move()
        try database.save(Document(id: "c"))
        try move()
        #expect(pages.withLock(\.self).last?.contains("\"c\"") == true)
        device.end()
        other.end()
    }
}
