import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Short documents that come with the changes, and what a run need not ask for.
@Suite(.timeLimit(.minutes(5))) struct CarriedRevisionTests {
    private let home = PeerHome()
    private let requests = Guarded<[String]>([])

    /// The requests whose path ends with a word.
    private func count(_ word: String) -> Int { requests.withLock { $0.count { $0.hasSuffix(word) } } }

    /// A database on a server with documents, and a peer for it that counts requests.
    private func peer(_ documents: [Document]) async throws -> CouchDBPeer {
        let requests = requests
        let client = TellingClient(client: DefaultTransport()) { request in
            requests.withLock { $0.append("\(request.method) \(request.url.path)") }
        }
        let peer = try home.peer(.settle, client: client)
        try await fill(peer, with: documents)
        requests.withLock { $0 = [] }
        return peer
    }

    private func fill(_ peer: CouchDBPeer, with documents: [Document]) async throws {
        let here = try TemporaryDatabase(.file)
        for result in try await here.database.saveAll(documents, onConflict: .fail) { _ = try result.get() }
        try await peer.create()
        _ = try await OneWayReplicator(.push(here.database, to: peer)).run()
    }

    private func documents(_ count: Int, bytes: Int = 20) throws -> [Document] {
        try (0..<count).map { number in
            Document(
                id: try DocumentID(validating: "doc-\(number)"),
                body: ["n": .number(JSONNumber(number)), "t": .string(String(repeating: "x", count: bytes))])
        }
    }

    @Test func `a first pull of short documents asks for none of them`() async throws {
        let peer = try await peer(documents(3000))
        let there = try TemporaryDatabase(.file)
        let result = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        #expect(result.counts.revisionsWritten == 3000 && result.counts.revisionsFailed == 0)
        #expect(try there.database.document("doc-2999")?["n"] == 2999)
        #expect(count("/_bulk_get") == 0)
    }

    @Test func `a server that answers late is asked for longer pages than a near one`() async throws {
        let url = try home.url(.settle)
        try await fill(CouchDBPeer(url), with: documents(1000))
        let asked = Guarded<[Int]>([])
        func longest(delay: Duration) async throws -> Int {
            asked.withLock { $0 = [] }
            let client = TellingClient(client: DefaultTransport()) { request in
                guard request.url.path.hasSuffix("/_changes") else { return }
                let limit = request.url.text.split { "?&".contains($0) }.first { $0.hasPrefix("limit=") }
                asked.withLock { $0 += [limit.flatMap { Int($0.dropFirst(6)) } ?? 0] }
            }
            // Each look at the clock finds it later by the delay.
            let clock = Guarded(ContinuousClock.now)
            let source = try CouchDBPeer(
                url, credentials: nil, client: client, options: CouchDBPeerOptions(),
                now: {
                    clock.withLock {
                        $0 += delay
                        return $0
                    }
                })
            let there = try TemporaryDatabase(.file)
            _ = try await OneWayReplicator(.pull(there.database, from: source)).run()
            return try #require(asked.withLock { $0.max() })
        }
        let near = try await longest(delay: .zero)
        #expect(try await longest(delay: .milliseconds(40)) > near)
    }

    @Test func `what can't come with the changes is asked for, and only that`() async throws {
        let there = try TemporaryDatabase(.file)
        let editor = try TemporaryDatabase(.file)
        let peer = try await peer(documents(90))
        _ = try await OneWayReplicator(.pull(editor.database, from: peer)).run()
        var edited = try #require(try editor.database.document("doc-7"))
        edited["n"] = -1
        try editor.database.save(edited, onConflict: .fail)
        try editor.database.delete(try #require(try editor.database.document("doc-8")))
        let file = try editor.database.makeAttachment("f", contentType: "text/plain", content: [1, 2])
        try editor.database.save(Document(id: "held", body: [:], attachments: [file]), onConflict: .fail)
        _ = try await OneWayReplicator(.push(editor.database, to: peer)).run()
        requests.withLock { $0 = [] }
        let result = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        #expect(result.counts.revisionsWritten == 91 && count("/_bulk_get") > 0)
        #expect(try there.database.document("doc-7")?["n"] == -1)
        #expect(try there.database.document("doc-8") == nil)
        #expect(try there.database.document("held")?.attachments.count == 1)
        #expect(try there.database.changes().count == 91)
    }

    @Test func `long documents come by requests of their own, after a page that shows how long they are`() async throws
    {
        let peer = try await peer(documents(300, bytes: 50_000))
        let there = try TemporaryDatabase(.file)
        let result = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        #expect(result.counts.revisionsWritten == 300 && count("/_bulk_get") > 0)
    }

    @Test(arguments: [true, false])
    func `a page with a document that is too long for a row comes again without documents`(isFirst: Bool) async throws {
        let long = String(repeating: "x", count: 17 << 20)
        let server = try OddServer { request in
            if request.path == "/" { return .init(200, #"{"couchdb":"Welcome","version":"3.5.0"}"#) }
            if request.path == "/db" { return .init(200, #"{"doc_count":2,"doc_del_count":0,"update_seq":"2-x"}"#) }
            let carries = request.target.contains("include_docs=true")
            let rows = ["a", "b"].enumerated().map { place, id in
                let text = (place == 0) == isFirst ? long : ""
                let document = carries ? #","doc":{"_id":"\#(id)","_rev":"1-a","t":"\#(text)"}"# : ""
                return #"{"seq":"\#(place + 1)-x","id":"\#(id)","changes":[{"rev":"1-a"}]\#(document)}"#
            }
            return .init(200, #"{"results":[\#(rows.joined(separator: ","))],"last_seq":"2-x","pending":0}"#)
        }
        let peer = try server.peer()
        _ = try await peer.connect()
        var request = ChangesRequest()
        request.wantsContents = true
        let first = try await peer.changes(request)
        #expect(first.changes.map(\.id) == (isFirst ? ["a", "b"] : ["a"]))
        #expect(first.last.description == (isFirst ? "2-x" : "1-x"))
        #expect(try await peer.changes(request).changes.count == 2)
        #expect(server.requests.count { $0.target.contains("include_docs") } == 1)
    }

    // SEMANTICS 200
    @Test func `a push into an empty database asks for no differences, and a later one does`() async throws {
        let here = try TemporaryDatabase(.file)
        let peer = try await peer([])
        for document in try documents(1500) { try here.database.save(document, onConflict: .fail) }
        let first = try await OneWayReplicator(.push(here.database, to: peer)).run()
        #expect(first.counts.revisionsWritten == 1500 && count("/_revs_diff") == 0)
        try here.database.save(Document(id: "new", body: [:]), onConflict: .fail)
        let second = try await OneWayReplicator(.push(here.database, to: peer)).run()
        #expect(second.counts.revisionsWritten == 1 && count("/_revs_diff") == 1)
    }

    @Test func `a run with nothing new reads no changes and creates no database`() async throws {
        let peer = try await peer(documents(10))
        let there = try TemporaryDatabase(.file)
        _ = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        requests.withLock { $0 = [] }
        let result = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        #expect(result.counts.revisionsChecked == 0 && count("/_changes") == 0)
        var configuration = ReplicationConfiguration.push(there.database, to: peer)
        configuration.createsTarget = true
        _ = try await OneWayReplicator(configuration).run()
        #expect(requests.withLock { $0.count { $0.hasPrefix("PUT") && !$0.contains("_local") } } == 0)
    }

    // MARK: What is kept

    private func request(_ name: String, _ revision: String = "1-a") throws -> RevisionRequest {
        RevisionRequest(id: try DocumentID(validating: name), revision: try #require(RevisionID(revision)))
    }

    private func page(_ names: [String], bytes: Int = 1) throws -> CarriedRevisions.Page {
        var page = CarriedRevisions.Page()
        for name in names {
            let long = String(repeating: "x", count: bytes)
            let text =
                #"{"seq":1,"id":"\#(name)","changes":[{"rev":"1-a"}],"doc":{"_id":"\#(name)","_rev":"1-a","n":"\#(long)"}}"#
            try Array(text.utf8).withUnsafeBufferPointer { page.add(try ParsedChange($0, before: .start), $0) }
        }
        return page
    }

    @Test func `revisions are given out once, in the order asked for, up to one that is missing`() throws {
        var carried = CarriedRevisions()
        carried.add(try page(["a", "b", "c"]))
        #expect(try !carried.has(request("a", "1-b")) && carried.has(request("a")))
        let asked = try [request("a"), request("c"), request("x"), request("b")]
        #expect(carried.dequeue(asked, budget: 1000).map(\.id) == ["a", "c"])
        #expect(carried.dequeue(asked, budget: 1000).isEmpty)
        #expect(carried.dequeue([asked[3]], budget: 0).map(\.id) == ["b"], "the first one whatever its size")
    }

    @Test func `a page of a near server has a quarter of the bytes of a far one`() throws {
        var carried = CarriedRevisions()
        carried.isPossible = true
        func bytes(after delay: Duration) throws -> Int {
            var answer = try page(["a", "b"])
            answer.delay = delay
            carried.add(answer)
            return try #require(carried.pace(of: 1_000_000)).bytes
        }
        let near = try bytes(after: .milliseconds(1))
        #expect(try bytes(after: .milliseconds(100)) == near * 4)
        #expect(try bytes(after: .milliseconds(1)) == near, "a phone comes home")
    }

    @Test func `short pages wait until they are asked for, and the oldest of long ones is dropped`() throws {
        var carried = CarriedRevisions()
        let names = (0..<8).map { "short-\($0)" }
        for name in names { carried.add(try page([name], bytes: 400_000)) }
        #expect(try names.allSatisfy { try carried.has(request($0)) }, "all have 3.2 MB, and 4 MiB may wait")
        for name in ["a", "b"] { carried.add(try page([name], bytes: 1_900_000)) }
        #expect(try !names.dropLast().contains { try carried.has(request($0)) })
        #expect(try carried.has(request("a")) && carried.has(request("b")))
        for name in ["c", "d"] { carried.add(try page([name], bytes: 3_000_000)) }
        #expect(try carried.has(request("c")) && carried.has(request("d")), "two are kept, whatever their length")
    }

    @Test func `what was asked for no longer counts as waiting`() throws {
        var carried = CarriedRevisions()
        carried.add(try page(["a", "b"], bytes: 1_900_000))
        #expect(try carried.dequeue([request("a")], budget: 1).map(\.id) == ["a"])
        for name in ["c", "d"] { carried.add(try page([name], bytes: 1_000_000)) }
        #expect(try ["b", "c", "d"].allSatisfy { try carried.has(request($0)) })
    }

    @Test func `useless or long pages turn it off`() throws {
        var carried = CarriedRevisions()
        #expect(carried.pace(of: 1000) == nil)
        carried.isPossible = true
        #expect(carried.pace(of: 1000)?.rows == 100)
        carried.add(try page(["a"]))
        #expect((carried.pace(of: 1000)?.rows ?? 0) > 1000)
        var useless = CarriedRevisions.Page()
        let text = #"{"seq":1,"id":"d","changes":[{"rev":"2-a"}],"doc":{"_id":"d","_rev":"2-a"}}"#
        try Array(text.utf8).withUnsafeBufferPointer { useless.add(try ParsedChange($0, before: .start), $0) }
        carried.add(useless)
        #expect(carried.pace(of: 1000) == nil)
    }
}
