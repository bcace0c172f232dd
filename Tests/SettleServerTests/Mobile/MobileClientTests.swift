import Settle
import SettleHTTP
import SettleMobile
import Testing

@testable import SettleServer

/// Couchbase Lite's protocol over real sockets, by a client that was written from its description alone (Tests/Mobile).
@Suite(.timeLimit(.minutes(5))) struct MobileClientTests {
    private func run(
        _ live: LiveServer, script: String = "client.py", _ words: String...
    ) async throws -> (status: Int32, output: String) {
        try await MobileScript.run(script, live, words)
    }

    @Test func `a client pushes, pulls, is refused and goes on, and the ids of revisions stay its own`() async throws {
        let live = try LiveServer()
        try live.server.state.create("db")
        let (status, output) = try await run(live, "db")
        #expect(status == 0, "\(output)")
        let database = try live.server.state.databases.open("db")
        #expect(try database.document("doc-007")?["n"] == 7)
        #expect(try database.tree(of: "doc-007")?.winner?.revision.signature.description.count == 40)
    }

    @Test func `a connection that says nothing for longer than a request may stays`() async throws {
        let live = try LiveServer { $0.idleTimeout = .seconds(5) }
        try live.server.state.create("db")
        let (status, output) = try await run(live, "db", "idle")
        #expect(status == 0, "\(output)")
    }

    @Test func `fifty clients push and pull at once, and nothing is missing`() async throws {
        let live = try LiveServer()
        try live.server.state.create("db")
        let (status, output) = try await run(live, "db", "crowd")
        #expect(status == 0, "\(output)")
        #expect(try live.server.state.databases.open("db").info().documents.live == 2000)
    }

    @Test(arguments: 1...6)
    func `devices with trees, with vectors and with branches edit apart, and in the end say the same and lost nothing`(
        seed: Int
    ) async throws {
        let live = try LiveServer()
        try live.server.state.create("db")
        let (status, output) = try await run(live, script: "fleet.py", "db", "\(seed)")
        #expect(status == 0 && output.contains("quiet"), "seed \(seed): \(output)")
    }

    @Test func `a validation function refuses what a client pushes`() throws {
        let client = try RouterClient.withScripts()
        try client.design(
            "v", ["validate_doc_update": "function (doc) { if (doc.evil) throw({forbidden: 'evil'}); }"])
        let push = MobilePush(context: Self.context(client))
        let answers = push.store([try Self.revision("a", #"{"evil":1}"#, client), try Self.revision("b", "{}", client)])
        #expect(answers[0].failure == .http(403, "evil") && answers[1].kind == .reply)
    }

    @Test func `a revision that can't be stored has its error alone, and the others of the batch are stored`() throws {
        let client = try RouterClient.withDatabase()
        let stub = #"{"_attachments":{"a.txt":{"stub":true,"digest":"md5-x","revpos":1}}}"#
        let answers = MobilePush(context: Self.context(client)).store([
            try Self.revision("a", "{}", client), try Self.revision("b", stub, client),
            try Self.revision("c", "{}", client),
        ])
        #expect(answers.map { $0.failure?.code } == [nil, 412, nil])
        #expect(try client.send("GET", "/db/c").status == 200)
    }

    @Test func `a version of a device whose clock is ahead is refused, so that no other device has to`() throws {
        let client = try RouterClient.withDatabase()
        func version(_ time: String) -> Result<PushedRevision, any Error> {
            Result { try Self.revision("a", "{}", client, named: "\(time)@aYzoLxOvQo6yrcFVzgk6ZA") }
        }
        #expect(throws: BLIPError.self) { try version("7000000000000000").get() }
        #expect(throws: Never.self) { try version("18eb55accf3a0000").get() }
    }

    private static func context(_ client: RouterClient) -> RequestContext {
        let request = ServerRequest(
            method: "GET", target: RequestTarget("/db/_blipsync"), headers: HTTPHeaders(), body: BufferedBody([]))
        return RequestContext(
            server: client.server.state, request: request, parameters: ["db": "db"],
            user: User(name: "anna", roles: []), query: HTTPQuery())
    }

    private static func revision(
        _ id: String, _ body: String, _ client: RouterClient, named name: String = "1-ab"
    ) throws -> PushedRevision {
        let message = BLIPMessage(
            properties: ["Profile": "rev", "id": id, "rev": name, "noconflicts": "1"], body: Array(body.utf8))
        return try PushedRevision(
            message, in: client.server.state.databases.open("db"), collection: 0,
            limit: client.server.state.options.largestDocument)
    }

    @Test func `a request without an upgrade, or with another version, is refused with the reason`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("GET", "/db/_blipsync").status == 426)
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Key": "a",
        ]
        #expect(try client.send("GET", "/db/_blipsync", headers: headers).status == 400)
        headers["Sec-WebSocket-Version"] = "13"
        headers["Sec-WebSocket-Protocol"] = "BLIP_3+CBMobile_5"
        #expect(try client.send("GET", "/db/_blipsync", headers: headers).status == 400)
        headers["Sec-WebSocket-Protocol"] = "BLIP_3+CBMobile_2"
        let taken = try client.send("GET", "/db/_blipsync", headers: headers)
        #expect(taken.status == 101 && taken.headers["Sec-WebSocket-Protocol"] == "BLIP_3+CBMobile_2")
        #expect(try client.send("GET", "/none/_blipsync", headers: headers).status == 404)
    }

    @Test func `a server stops while clients are connected`() throws {
        let live = try LiveServer()
        try live.server.state.create("db")
        let connections = try (0..<20).map { _ in
            let connection = try live.connect()
            try connection.write(
                "GET /db/_blipsync HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: BLIP_3+CBMobile_2\r\n\r\n"
            )
            return connection
        }
        for connection in connections { #expect(try connection.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 101")) }
        let begin = ContinuousClock.now
        live.server.stop()
        #expect(ContinuousClock.now - begin < .seconds(300))
    }
}
