import Dispatch
import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Two nodes over one store: what one has done counts on the other from the next request on.
@Suite(.timeLimit(.minutes(5))) struct SharedNodesTests {
    private static let everybody: JSONValue = [
        "members": ["roles": [], "names": []], "admins": ["roles": [], "names": []],
    ]

    @Test func `a database created on one node is listed and used on the other`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.two.send("GET", "/db").status == 404)
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        #expect(try nodes.one.send("PUT", "/db/a", ["n": 1]).status == 201)
        #expect(try nodes.two.send("GET", "/db/a").json["n"] == 1)
        #expect(try nodes.two.send("GET", "/_all_dbs").json == ["_replicator", "_users", "db"])
        #expect(try nodes.two.send("PUT", "/db").status == 412)
        let uuids = try [nodes.one, nodes.two].map { try $0.send("GET", "/").json["uuid"] }
        #expect(uuids[0] != nil && uuids[0] == uuids[1])
    }

    @Test func `a database deleted on one node is gone on the other, whose feeds end`() throws {
        let nodes = try SharedNodes()
        for path in ["/db", "/db/a"] { #expect(try nodes.one.send("PUT", path, [:]).status == 201) }
        #expect(try nodes.two.send("GET", "/db/a").status == 200)
        let feed = try LiveFeed(nodes.two, "/db/_changes?feed=continuous&since=now&timeout=60000")
        #expect(try nodes.one.send("DELETE", "/db").status == 200)
        #expect(try nodes.two.send("GET", "/db/a").error == "not_found: Database does not exist.")
        #expect(try feed.rest().contains("last_seq"))
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        #expect(try nodes.two.send("GET", "/db").json["doc_count"] == 0)
        #expect(try nodes.two.send("PUT", "/db/b", [:]).status == 201)
        #expect(try nodes.one.send("GET", "/db").json["doc_count"] == 1)
    }

    @Test func `a database that was replaced is the new one, also where nobody asked in between`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        #expect(try nodes.two.send("PUT", "/db/old", [:]).status == 201)
        #expect(try nodes.one.send("DELETE", "/db").status == 200)
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        #expect(try nodes.two.send("POST", "/_dbs_info", ["keys": ["db"]]).json[0]?["info"]?["doc_count"] == 0)
        #expect(try nodes.two.send("GET", "/db/old").error == "not_found: missing")
    }

    @Test func `a replicator database that one node has created is watched by the other, also when created anew`()
        async throws
    {
        let nodes = try SharedNodes { $0.replicatorCheckInterval = .milliseconds(20) }
        let database = "/team%2F_replicator"
        let order: JSONValue = [
            "source": "http://127.0.0.1:1/a", "target": "http://127.0.0.1:1/b", "continuous": true,
        ]
        for (round, creator) in [nodes.one, nodes.one, nodes.two].enumerated() {
            let document = "\(database)/\(round)"
            #expect(try creator.send("PUT", database).status == 201)
            #expect(try creator.send("PUT", document, order).status == 201)
            for node in [nodes.one, nodes.two] {
                await eventually("the node knows the replication") {
                    try node.send("GET", "/_scheduler/docs\(document)").status == 200
                }
            }
            #expect(try creator.send("DELETE", database).status == 200)
        }
    }

    @Test func `a feed has what another node writes`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        let feed = try LiveFeed(nodes.two, "/db/_changes?feed=continuous&since=now&timeout=60000")
        #expect(try nodes.one.send("PUT", "/db/a", [:]).status == 201)
        #expect(try feed.line().contains(#""id":"a""#))
    }

    @Test func `a security object set on one node counts on the other`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        let stranger = { try nodes.two.send(as: "", "GET", "/db").status }
        for _ in 0..<3 {
            #expect(try stranger() == 401)
            #expect(try nodes.one.send("PUT", "/db/_security", Self.everybody).status == 200)
            #expect(try stranger() == 200)
            #expect(try nodes.one.send("PUT", "/db/_security", SecurityObject.standard).status == 200)
        }
    }

    @Test func `a design document written on one node filters on the other`() throws {
        let nodes = try SharedNodes { $0.scripts = .built }
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        let path = "/db/_design/d"
        let design = { (word: String) -> JSONValue in
            ["validate_doc_update": .string("function (doc) { if (doc.word != '\(word)') throw {forbidden: 'no'} }")]
        }
        let first = try nodes.one.send("PUT", path, design("one"))
        #expect(first.status == 201)
        #expect(try nodes.two.send("PUT", "/db/a", ["word": "one"]).status == 201)
        #expect(try nodes.two.send("PUT", "/db/b", ["word": "two"]).status == 403)
        let rev = first.json["rev"]?.string ?? ""
        #expect(try nodes.one.send("PUT", "\(path)?rev=\(rev)", design("two")).status == 201)
        #expect(try nodes.two.send("PUT", "/db/b", ["word": "two"]).status == 201)
        #expect(try nodes.two.send("PUT", "/db/c", ["word": "one"]).status == 403)
    }

    @Test func `no request is answered on a polling thread`() throws {
        let nodes = try SharedNodes()
        for path in ["/db", "/db/a"] { #expect(try nodes.one.send("PUT", path, [:]).status == 201) }
        #expect(try nodes.one.send("PUT", "/db/_security", Self.everybody).status == 200)
        for path in ["/", "/_up", "/db/a", "/absent/a", "/_nope/x", "/db/_design/d"] {
            for headers: HTTPHeaders in [["Authorization": "Basic YWRtaW46YWRtaW4="], [:]] {
                let request = ServerRequest(
                    method: "GET", target: RequestTarget(path), headers: headers, body: BufferedBody())
                _ = nodes.two.server.router.respond(to: request)
                #expect(nodes.two.server.router.respondAtOnce(to: request) == nil, "\(path)")
            }
        }
    }

    @Test func `a request asks once what others have changed`() throws {
        let nodes = try SharedNodes()
        for path in ["/db", "/db/a"] { #expect(try nodes.one.send("PUT", path, [:]).status == 201) }
        // The log of updates asks, too, on a thread of its own and soon after a write.
        for node in [nodes.one, nodes.two] { node.server.state.updates.stop() }
        for (method, path) in [("GET", "/db/a"), ("GET", "/db/_all_docs"), ("PUT", "/db/b"), ("GET", "/_session")] {
            _ = try nodes.two.send("GET", "/db/a")
            let before = nodes.memory.questions
            #expect(try nodes.two.send(method, path, method == "PUT" ? [:] : nil).status / 100 == 2)
            #expect(nodes.memory.questions == before + 1, "\(path)")
        }
    }

    @Test func `while the store can't be reached the node answers 503 and says when to try again`() throws {
        let nodes = try SharedNodes()
        for path in ["/db", "/db/a"] { #expect(try nodes.one.send("PUT", path, [:]).status == 201) }
        #expect(try nodes.one.send("GET", "/_up").json == ["status": "ok", "seeds": [:]])
        nodes.memory.isDown = true
        for path in ["/db/a", "/_all_dbs", "/", "/_session"] {
            let answer = try nodes.one.send("GET", path)
            #expect(answer.status == 503 && answer.headers["Retry-After"] == "1", "\(path)")
            #expect(answer.error == "service_unavailable: The storage can't be reached now.")
        }
        #expect(try nodes.one.send("PUT", "/db/b", [:]).status == 503)
        let up = try nodes.one.send("GET", "/_up")
        #expect(up.status == 503 && up.headers["Retry-After"] == "1")
        #expect(up.json == ["status": "unavailable", "seeds": [:]])
        let connection = try RawConnection(port: nodes.one.server.port)
        try connection.write("GET /db/a HTTP/1.1\r\nHost: test\r\n\r\n")
        let (head, body) = try connection.readAnswer()
        #expect(head.hasPrefix("HTTP/1.1 503") && head.contains("Retry-After: 1"))
        #expect(!String(decoding: body, as: UTF8.self).contains("internal"))
        nodes.memory.isDown = false
        #expect(try nodes.one.send("GET", "/db/a").status == 200)
        #expect(try nodes.one.send("GET", "/_up").status == 200)
    }

    @Test func `a store that fails in the middle of a request is unavailable, too`() throws {
        let error = HTTPError(DatabaseError(.unavailable, "password=secret"))
        #expect(error.status == 503 && error.headers["Retry-After"] == "1" && !error.reason.contains("secret"))
    }
}

/// A feed of a node without a socket, read piece by piece.
private struct LiveFeed {
    private let stream: any ResponseStream
    private let woken = DispatchSemaphore(value: 0)

    init(_ client: RouterClient, _ path: String) throws {
        let headers: HTTPHeaders = ["Host": "test", "Authorization": "Basic YWRtaW46YWRtaW4="]
        let response = client.server.router.respondInTheEnd(
            to: ServerRequest(method: "GET", target: RequestTarget(path), headers: headers, body: BufferedBody()))
        guard case .stream(let stream, _) = response.body.content else { throw DatabaseError(.invalid, "no feed") }
        self.stream = stream
        let woken = woken
        stream.begin { woken.signal() }
    }

    /// The next piece that is not empty.
    func line() throws -> String { try next() ?? "" }

    /// All until the feed ends.
    func rest() throws -> String {
        var text = ""
        while let piece = try next() { text += piece }
        return text
    }

    private func next() throws -> String? {
        while true {
            switch try stream.next() {
            case .piece(let bytes): if !bytes.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            case .end: return nil
            case .wait: try #require(woken.wait(timeout: .now() + 300) == .success, "the feed was never woken")
            }
        }
    }
}
