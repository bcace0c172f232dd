import Dispatch
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Edits that are made on the polling thread, because they are alone.
struct RouterLoneEditTests {
    private let client: RouterClient

    init() throws {
        client = try RouterClient.withDatabase()
        // So that a worker has verified the password, opened the database and read its permissions.
        #expect(try client.send("PUT", "/db/first", [:]).status == 201)
    }

    private func atOnce(
        _ method: String, _ path: String, _ body: JSONValue? = nil, isQuiet: Bool = true
    ) -> HTTPResponse? {
        client.server.router.respondAtOnce(
            to: ServerRequest(
                method: method, target: RequestTarget(path),
                headers: [
                    "Host": "test", "Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/json",
                ],
                body: BufferedBody(body?.utf8 ?? [])), isQuiet: isQuiet)
    }

    private func json(_ response: HTTPResponse?) throws -> JSONValue? {
        guard case .bytes(let bytes)? = response?.body.content else { return nil }
        return try JSONValue(utf8: bytes)
    }

    @Test func `an edit that is alone is made at once, with the answer of a worker`() throws {
        let now = atOnce("PUT", "/db/a", ["n": 1])
        let later = try client.send("PUT", "/db/b", ["n": 1])
        #expect(now?.status == 201 && later.status == 201)
        #expect(now?.headers.fields.map(\.name) == later.headers.fields.map(\.name))
        let revision = try #require(try json(now)?["rev"]?.string)
        #expect(later.json["rev"]?.string == revision)
        #expect(try client.send("GET", "/db/a").json["n"] == 1)
        #expect(atOnce("DELETE", "/db/a?rev=\(revision)")?.status == 200)
        #expect(try client.send("GET", "/db/a").status == 404)
        let posted = try #require(try json(atOnce("POST", "/db", ["n": 2]))?["id"]?.string)
        #expect(try client.send("GET", "/db/\(posted)").json["n"] == 2)
        #expect(atOnce("PUT", "/db/_local/l", ["n": 3])?.status == 201)
        #expect(try client.send("GET", "/db/_local/l").json["n"] == 3)
    }

    @Test func `a refused edit is refused at once and writes nothing`() throws {
        let before = try client.send("GET", "/db").json["update_seq"]
        #expect(atOnce("PUT", "/db/first", ["n": 1])?.status == 409)
        #expect(atOnce("DELETE", "/db/absent")?.status == 404)
        #expect(atOnce("PUT", "/db/_none", ["n": 1])?.status == 400)
        #expect(try client.send("GET", "/db").json["update_seq"] == before)
        #expect(atOnce("PUT", "/db/next", [:])?.status == 201)
    }

    @Test func `an edit is left to a worker while one has work, and while somebody writes`() throws {
        #expect(atOnce("PUT", "/db/a", [:], isQuiet: false) == nil)
        let database = try client.server.state.databases.open("db")
        try database.transaction {
            let isLeft = Guarded(false)
            let other = DispatchGroup()
            DispatchQueue.global().async(group: other) {
                let answer = atOnce("PUT", "/db/a", [:])
                isLeft.withLock { $0 = answer == nil }
            }
            other.wait()
            #expect(isLeft.withLock { $0 })
        }
        #expect(try client.send("GET", "/db/a").status == 404)
        #expect(atOnce("PUT", "/db/a", [:])?.status == 201)
    }

    @Test func `an edit is left to a worker if its body is long or its database is not open`() throws {
        let long = JSONValue.string(String(repeating: "x", count: 17 << 10))
        #expect(atOnce("PUT", "/db/a", ["text": long]) == nil)
        #expect(atOnce("PUT", "/absent/a", [:]) == nil)
        #expect(atOnce("POST", "/db/_bulk_docs", ["docs": []]) == nil)
    }

    @Test func `feeds get an edit that was made at once`() throws {
        let database = try client.server.state.databases.open("db")
        let before = database.newestCommit?.sequence
        #expect(atOnce("PUT", "/db/a", [:])?.status == 201)
        #expect(database.newestCommit?.sequence != before)
    }
}
