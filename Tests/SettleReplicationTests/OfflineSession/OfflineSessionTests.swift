import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettleServer
import Testing

@testable import SettleReplication

@Suite(.timeLimit(.minutes(5))) struct OfflineSessionTests {
    // SEMANTICS 170
    @Test(arguments: ServerKind.all)
    func `a change made online is sent to the server automatically`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        let statuses = world.session.statuses
        world.session.start()
        try world.set("1", "name", "item1_1")
        for await status in statuses where status.state == .online && world.session.status.state == .online {
            // The server has the change a moment before the acknowledgement takes the entry from the journal.
            if try await world.server() == ["1 item1_1 9:00 false"], try world.history().isEmpty { break }
        }
        #expect(try world.history() == [])
        await world.session.stop()
    }

    // SEMANTICS 170
    @Test(arguments: ServerKind.all)
    func `a change made online that is not sent yet meets a rival change as one made offline does`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        #expect(world.session.status.state == .online)
        // The session is not running, so only goOnline() sends changes.
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.server?["name"] == "theirs")
        #expect(try await world.server() == ["1 theirs 9:01 false"])
        #expect(try world.history() == ["UPDATE 1 item1 mine"] && world.client() == ["1 mine 9:00"])
    }

    // SEMANTICS 176, 179
    @Test(arguments: ServerKind.all)
    func `operations are sent in order, and none after a refused one`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.database.save(Document(id: "before", body: ["name": "b"]), onConflict: .fail)
        try world.set("1", "name", "mine")
        try world.database.save(Document(id: "behind", body: ["name": "c"]), onConflict: .fail)
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(try await world.server() == ["1 theirs 9:01 false", "before b 9:00 false"])
        #expect(try world.history() == ["UPDATE 1 item1 mine", "CREATE behind - c"])
        try await world.session.discard()
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 theirs 9:01 false", "before b 9:00 false", "behind c 9:00 false"])
        #expect(try world.client() == ["1 theirs 9:01", "before b 9:00", "behind c 9:00"])
    }

    // SEMANTICS 167
    @Test func `operations that depend on a refused document wait`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.database.save(Document(id: "envelope", body: ["name": "mine"]), onConflict: .fail)
        try world.database.save(
            Document(id: "transfer", body: ["name": "t", "envelope": "envelope"]), onConflict: .fail)
        try await world.write("envelope", ["name": "theirs"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.operation == .create)
        #expect(world.session.status.conflict?.old == nil)
        #expect(try await !world.server().contains { $0.hasPrefix("transfer") })
        try await world.session.replace(with: ["name": "ours"])
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server().map { $0.split(separator: " ")[1] } == ["item1", "ours", "t"])
    }

    // SEMANTICS 177, 178
    @Test(arguments: ServerKind.all)
    func `unless the switch is set, a change of any other member is a conflict`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "item1", "count": 7, "updatedat": "9:05"])
        world.time(9, 10)
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.reason == .changed && conflict.differences.allSatisfy { !$0.isClash })
        #expect(conflict.server?["count"] == 7 && conflict.server?["name"] == "item1")
        try await world.expect(
            "Client (9:00) SYNC FAILED", history: ["UPDATE 1 item1 mine"], client: ["1 mine 9:00"],
            server: ["1 item1 9:05 false"])
    }

    // SEMANTICS 177
    @Test(arguments: ServerKind.all)
    func `by the switch, changes of other members are no conflict`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.acceptance = .unchangedAttributes }
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try world.set("1", "name", "mine, too")
        try await world.write("1", ["name": "item1", "count": 7, "updatedat": "9:05"])
        world.time(9, 10)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 mine, too 9:10 false"])
        #expect(try world.database.document("1")?["count"] == 7)
        await world.session.goOffline()
        try world.set("1", "name", "mine again")
        try await world.write("1", ["name": "theirs", "count": 8])
        #expect(try await world.session.goOnline().state == .syncFailed)
    }

    @Test(arguments: ServerKind.all)
    func `an operation with too many bytes of attachments is a conflict, and can be discarded`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind) { $0.largestAttachments = 10 }
        try await world.begin()
        await world.session.goOffline()
        var document = try #require(try world.database.document("1"))
        document.attach(try world.database.makeAttachment("a.bin", content: Array(repeating: 1, count: 11)))
        try world.database.save(document)
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        guard case .refused(let message) = conflict.reason else {
            Issue.record("\(conflict.reason)")
            return
        }
        #expect(message.contains("\"1\" have 11 bytes") && conflict.server?["name"] == "item1")
        try await world.session.discard()
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.database.document("1")?.attachments.isEmpty == true)
    }

    // SEMANTICS 171
    @Test(arguments: ServerKind.all)
    func `a document deleted on the server is deleted here, too`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        try await world.write("2", ["name": "item2", "updatedat": "9:00"])
        try await world.session.fetch()
        #expect(try world.client() == ["1 item1 9:00", "2 item2 9:00"])
        try await world.delete("1")
        // A deletion may keep members, and a deletion of a document that was never here is ignored.
        try await world.write("2", ["_deleted": true, "name": "item2"])
        try await world.write("3", ["name": "item3"])
        try await world.delete("3")
        world.time(9, 10)
        try await world.session.fetch()
        try await world.expect("Client (9:10) ONLINE", history: [], client: [], server: [])
        #expect(try world.database.document("1") == nil)
        // The document may be created again, on either side.
        try await world.write("1", ["name": "again", "updatedat": "9:11"])
        try world.database.save(Document(id: "2", body: ["name": "mine"]), onConflict: .fail)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == ["1 again 9:11", "2 mine 9:10"])
        #expect(try await world.server() == ["1 again 9:11 false", "2 mine 9:10 false"])
        #expect(try world.database.verify().problems == [])
    }

    // SEMANTICS 171, 177
    @Test(arguments: ServerKind.all)
    func `an edit of a document deleted on the server is a conflict, and a deletion of it is not`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        try await world.write("2", ["name": "item2", "updatedat": "9:00"])
        try await world.session.fetch()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        let second = try #require(try world.database.document("2"))
        try world.database.delete(second, onConflict: .fail)
        try await world.delete("1")
        try await world.delete("2")
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.server == nil && conflict.serverRevision == nil && conflict.new?.body["name"] == "mine")
        #expect(conflict.isDeletedAtServer && conflict.message == "Document update conflict.")
        #expect(
            conflict.differences == [
                .init(name: "name", old: "item1", new: "mine", server: nil),
                .init(name: "updatedat", old: "9:00", new: "9:00", server: nil),
            ])
        try await world.session.discard()
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == [] && world.history() == [])
        #expect(try await world.server() == [])
    }

    // SEMANTICS 177, 180
    @Test(arguments: ServerKind.all)
    func `a conflict has the server's message, and each member that differs`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.write("1", ["name": "item1", "price": 3, "color": "red", "same": true, "updatedat": "9:00"])
        try await world.session.fetch()
        await world.session.goOffline()
        var mine = try #require(try world.database.document("1"))
        mine["price"] = 4
        mine["size"] = "L"
        mine["color"] = nil
        try world.database.save(mine, onConflict: .fail)
        try await world.write(
            "1", ["name": "theirs", "price": 5, "color": "red", "same": true, "size": "L", "updatedat": "9:10"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.reason == .changed && conflict.message == "Document update conflict.")
        #expect(!conflict.isDeletedAtServer)
        let found = conflict.differences
        #expect(found.map(\.name) == ["name", "price", "updatedat", "size", "color"])
        #expect(found[0] == .init(name: "name", old: "item1", new: "item1", server: "theirs"))
        #expect(found[1] == .init(name: "price", old: 3, new: 4, server: 5))
        #expect(found[3] == .init(name: "size", old: nil, new: "L", server: "L"))
        #expect(found[4] == .init(name: "color", old: "red", new: nil, server: "red"))
        #expect(found.filter(\.isClash).map(\.name) == ["price"])
    }

    // SEMANTICS 177
    @Test func `a server's refusal has its message`() async throws {
        let server = try LiveServer { $0.largestDocument = 200 }
        let peer = try CouchDBPeer(server.url("notes"))
        try await peer.create()
        var options = DatabaseOptions()
        options.journal = true
        let database = try Database.inMemory(options: options)
        let session = try OfflineSession(database, server: peer)
        try database.save(
            Document(id: "long", body: ["text": .string(String(repeating: "x", count: 300))]), onConflict: .fail)
        #expect(try await session.goOnline().state == .syncFailed)
        let conflict = try #require(session.status.conflict)
        // CouchDB's reason for a document that is too large is its id.
        #expect(conflict.message == "long" && !conflict.isDeletedAtServer && conflict.server == nil)
        guard case .refused(let told) = conflict.reason else {
            Issue.record("\(conflict.reason)")
            return
        }
        #expect(told.contains("413"))
        database.close()
    }

    // SEMANTICS 188, 189, K14
    @Test(arguments: ServerKind.all)
    func `temporary ids are replaced by the server's, in references too`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.identifiers = .server }
        try await world.begin()
        await world.session.goOffline()
        let first = try world.session.create(["name": "envelope"])
        let second = try world.session.create(["name": "other"])
        #expect([first.id, second.id] == ["t_1", "t_2"])
        #expect(try world.history() == ["CREATE t_1 - envelope", "CREATE t_2 - other"])
        #expect(try world.client() == ["1 item1 9:00", "t_1 envelope -", "t_2 other -"])
        try world.set("1", "envelopes", ["t_1", ["in": "t_2"], "t_11"])
        try world.set("t_1", "next", "t_2")
        try await world.session.revert(second.id)
        let third = try world.session.create(["name": "third"])
        #expect(third.id == "t_3")
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.history() == [])
        let rows = try world.client()
        #expect(rows.map { $0.split(separator: " ")[1] }.sorted() == ["envelope", "item1", "third"])
        #expect(rows.allSatisfy { !$0.hasPrefix("t_") })
        #expect(try await world.server() == rows.map { "\($0) false" })
        let id = try #require(rows.first { $0.contains("envelope") }?.split(separator: " ").first)
        let one = try await world.remote.json("GET", "1").json
        #expect(one["envelopes"]?[0]?.string == String(id))
        #expect(one["envelopes"]?[2] == "t_11")
        #expect(try world.database.verify().problems == [])
    }

    // SEMANTICS 150, 152
    @Test func `a document created and deleted offline is never sent`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        let made = try world.database.save(Document(id: "gone", body: ["name": "g"]), onConflict: .fail)
        try world.database.delete(made, onConflict: .fail)
        #expect(try await world.session.goOnline().state == .online)
        #expect(world.session.status.conflict == nil)
        await #expect(throws: CouchDBError.self) { try await world.remote.json("GET", "gone") }
        #expect(try world.history() == [])
    }

    // SEMANTICS 174, 197
    @Test(arguments: ServerKind.all)
    func `several operations on one document are sent in order`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind) { $0.stampAttribute = nil }
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "a")
        try world.set("1", "name", "b")
        try world.database.delete("1")
        try world.database.save(Document(id: "1", body: ["name": "c"]), onConflict: .fail)
        #expect(
            try world.history() == ["UPDATE 1 item1 a", "UPDATE 1 a b", "DELETE 1 b -", "CREATE 1 - c"])
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 c - false"])
        #expect(try world.client() == ["1 c -"])
        let local = try #require(try world.database.document("1")?.revision)
        #expect(try await world.remote.json("GET", "1").json["_rev"]?.string == local.description)
    }

    @Test(arguments: ServerKind.all)
    func `a deletion is refused when the document was changed on the server`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.database.delete("1")
        try await world.write("1", ["name": "changed", "updatedat": "9:05"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        let conflict = try #require(world.session.status.conflict)
        #expect(conflict.operation == .delete && conflict.new == nil)
        try await world.session.replace(with: nil)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == [])
        #expect(try world.client() == [])
    }

    @Test(arguments: ServerKind.all)
    func `an update of a document deleted on the server is a conflict without a server side`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        let revision = try #require(try await world.remote.json("GET", "1").json["_rev"]?.string)
        _ = try await world.remote.json("DELETE", "1", query: ["rev": revision])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.server == nil)
        try await world.session.replace(with: ["name": "mine"])
        world.time(9, 20)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 mine 9:20 false"])
        #expect(try world.client() == ["1 mine 9:20"])
    }

    @Test(arguments: ServerKind.all)
    func `attachments are sent with their documents`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try attach(to: "1", in: world)
        #expect(try await world.session.goOnline().state == .online)
        try world.set("1", "name", "later")
        #expect(try await world.session.goOnline().state == .online)
        let stub = try await world.remote.json("GET", "1").json["_attachments"]?["a.bin"]
        #expect(stub?["length"] == 3)
        let kept = try #require(try world.database.document("1")?.attachments.first)
        #expect(try world.database.content(of: kept) == [1, 2, 3])
    }

    /// Attaches three bytes to a document.
    private func attach(to id: DocumentID, in world: OfflineWorld) throws {
        var document = try #require(try world.database.document(id))
        document.attach(try world.database.makeAttachment("a.bin", content: [1, 2, 3]))
        try world.database.save(document, onConflict: .fail)
    }

    @Test(arguments: ServerKind.all)
    func `an attachment that both sides add to an unchanged document is a conflict`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        await world.session.goOffline()
        try attach(to: "1", in: world)
        let theirs: JSONValue = ["a.bin": ["content_type": "application/octet-stream", "data": "BAUG"]]
        try await world.write("1", ["name": "item1", "updatedat": "9:00", "_attachments": theirs])
        #expect(try await world.session.goOnline().state == .syncFailed)
        #expect(world.session.status.conflict?.reason == .changed)
        try await world.session.discard()
        #expect(try await world.session.goOnline().state == .online)
        let kept = try #require(try world.database.document("1")?.attachments.first)
        #expect(try world.database.content(of: kept) == [4, 5, 6])
    }

    @Test(arguments: ServerKind.all)
    func `a decision is sent with the attachments that the server no longer has`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        try attach(to: "1", in: world)
        #expect(try await world.session.goOnline().state == .online)
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        // Without its attachments.
        try await world.write("1", ["name": "theirs", "updatedat": "9:01"])
        #expect(try await world.session.goOnline().state == .syncFailed)
        try await world.session.replace(with: ["name": "both", "updatedat": "9:00"])
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 both 9:00 false"])
        #expect(try await world.remote.json("GET", "1").json["_attachments"]?["a.bin"]?["length"] == 3)
        let kept = try #require(try world.database.document("1")?.attachments.first)
        #expect(try world.database.content(of: kept) == [1, 2, 3])
    }

    // SEMANTICS 177, 183
    @Test(arguments: ServerKind.all)
    func `by the switch, a decision on a document with an attachment is merged with changes of other members`(
        kind: ServerKind
    ) async throws {
        let world = try await OfflineWorld(kind) { $0.acceptance = .unchangedAttributes }
        try await world.begin()
        try attach(to: "1", in: world)
        #expect(try await world.session.goOnline().state == .online)
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        let stubs = try #require(try await world.remote.json("GET", "1").json["_attachments"])
        try await world.write("1", ["name": "theirs", "updatedat": "9:01", "_attachments": stubs])
        #expect(try await world.session.goOnline().state == .syncFailed)
        try await world.session.replace(with: ["name": "theirs", "size": "L", "updatedat": "9:00"])
        try await world.write("1", ["name": "theirs", "count": 7, "updatedat": "9:02", "_attachments": stubs])
        world.time(9, 10)
        #expect(try await world.session.goOnline().state == .online)
        #expect(try await world.server() == ["1 theirs 9:10 false"])
        let merged = try #require(try world.database.document("1"))
        #expect(merged["count"] == 7 && merged["size"] == "L")
        let kept = try #require(merged.attachments.first)
        #expect(try world.database.content(of: kept) == [1, 2, 3])
    }

    @Test func `a session remembers its decisions after a restart`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        await world.session.goOffline()
        try world.set("1", "name", "mine")
        try await world.write("1", ["name": "theirs"])
        try await world.session.goOnline()
        try await world.session.replace(with: ["name": "both"])
        var options = OfflineSessionOptions()
        options.startsOnline = false
        let again = try OfflineSession(world.database, server: world.peer, options: options)
        #expect(again.status.lastSyncDate == Date(milliseconds: 32_400_000))
        #expect(again.status.state == .offline)
        #expect(try await again.goOnline().state == .online)
        #expect(try await world.server() == ["1 both - false"])
    }

    @Test func `a database without a journal has no session`() throws {
        let database = try Database.inMemory()
        let peer = try CouchDBPeer(HTTPURL("http://127.0.0.1:1/a"))
        let error = #expect(throws: DatabaseError.self) { try OfflineSession(database, server: peer) }
        #expect(error?.code == .invalid)
    }

    // SEMANTICS 196
    @Test(arguments: ServerKind.all)
    func `after erasing, documents that did not change at the server are fetched too`(kind: ServerKind) async throws {
        let world = try await OfflineWorld(kind)
        try await world.begin()
        try await world.session.eraseLocal()
        #expect(try world.client() == [])
        #expect(try await world.session.goOnline().state == .online)
        #expect(try world.client() == ["1 item1 9:00"])
        #expect(try world.history() == [])
    }

    @Test func `an unreachable server makes the session offline, and it reconnects automatically`() async throws {
        let world = try await OfflineWorld(.settle)
        try await world.begin()
        let gate = BrokenClient(DefaultTransport())
        let peer = try CouchDBPeer(world.url, client: gate)
        var options = OfflineSessionOptions()
        options.retry.firstDelay = .milliseconds(1)
        let session = try OfflineSession(world.database, server: peer, options: options)
        #expect(try await session.goOnline().state == .online)
        gate.isBroken = true
        try world.set("1", "name", "mine")
        let status = try await session.goOnline()
        #expect(status.state == .offline)
        #expect(status.error?.code == .unreachable)
        #expect(try world.history() == ["UPDATE 1 item1 mine"])
        let statuses = session.statuses
        session.start()
        gate.isBroken = false
        session.networkChanged()
        for await status in statuses where status.state == .online { break }
        #expect(try world.history() == [])
        await session.stop()
    }

    @Test func `a compressed attachment can be the sent one though another compressor gives another digest`() throws {
        let database = try Database.inMemory()
        defer { database.close() }
        let content: [UInt8] = Array(repeating: 65, count: 100)
        let (plain, binary) = ("text/plain", "application/octet-stream")
        let text = try database.makeAttachment("a", contentType: plain, content: content)
        let bytes = try database.makeAttachment("a", contentType: binary, content: content)
        func state(_ type: String, length: Int64, encoding: String? = nil) -> OfflineServer.State {
            let found = WireAttachment(
                "a", contentType: type, digest: "md5-other", length: length, encoding: encoding, content: .stub)
            return OfflineServer.State(attachments: [found])
        }
        #expect(state(plain, length: 100, encoding: "gzip").canResult(from: [text]))
        #expect(state(plain, length: 100).canResult(from: [text]))
        #expect(!state(plain, length: 101, encoding: "gzip").canResult(from: [text]))
        #expect(state(binary, length: 100, encoding: "gzip").canResult(from: [bytes]))
        #expect(!state(binary, length: 100).canResult(from: [bytes]))
        // A merge must not take another content of the same length for the known one.
        #expect(!state(plain, length: 100, encoding: "gzip").hasAttachments([text]))
    }

    @Test func `states of documents whose ids look the same are kept apart`() {
        var records = OfflineRecords()
        // The same letter as one character, and as two.
        records.seen["\u{E9}"] = OfflineRecords.Seen(number: 1, history: nil)
        records.seen["e\u{301}"] = OfflineRecords.Seen(number: 2, history: nil)
        let again = OfflineRecords(records.json)
        #expect(again.seen["\u{E9}"]?.number == 1 && again.seen["e\u{301}"]?.number == 2)
    }

    @Test func `members whose names look the same differ each on their own`() {
        // The same letter as one character, and as two.
        let (old, new): (DocumentBody, DocumentBody) = (["\u{E9}": 1, "e\u{301}": 1], ["\u{E9}": 2, "e\u{301}": 3])
        let conflict = OfflineConflict(
            number: 1, documentID: "a", operation: .update, old: RevisionContent(body: old),
            new: RevisionContent(body: new), server: old, isDeletedAtServer: false, serverHistory: nil,
            reason: .changed, message: "")
        #expect(conflict.differences.map(\.new) == [2, 3])
    }
}
