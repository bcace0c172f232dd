import Settle
import SettleDatabase
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Requests answered on the polling thread: only those that need not wait, with the same answers.
struct RouterAtOnceTests {
    private func atOnce(
        _ client: RouterClient, _ method: String, _ path: String, _ login: String = "YWRtaW46YWRtaW4="
    )
        -> HTTPResponse?
    {
        let headers: HTTPHeaders = ["Host": "test", "Accept": "application/json", "Authorization": "Basic \(login)"]
        return client.server.router.respondAtOnce(
            to: ServerRequest(method: method, target: RequestTarget(path), headers: headers, body: BufferedBody()))
    }

    private func bytes(_ response: HTTPResponse?) -> [UInt8]? {
        if case .bytes(let bytes)? = response?.body.content { bytes } else { nil }
    }

    @Test(arguments: ["/", "/_up", "/db/a", "/db/a?conflicts=true&revs_info=true&local_seq=true", "/db/_design/d"])
    func `a plain read is answered on the polling thread like on a worker`(path: String) throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "_design/d"] { #expect(try client.send("PUT", "/db/\(name)", ["n": 1.0]).status == 201) }
        let later = try client.send("GET", path)
        let now = atOnce(client, "GET", path)
        #expect(later.status == 200)
        #expect(now?.status == 200)
        #expect(bytes(now) == later.body)
        #expect(now?.headers.fields.map(\.name) == later.headers.fields.map(\.name))
        #expect(now?.headers["ETag"] == later.headers["ETag"])
    }

    @Test func `a request that may take long is left to a worker`() throws {
        let client = try RouterClient.withDatabase()
        let long = JSONValue.string(String(repeating: "x", count: PromptDatabase.maximumBytes))
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        let first = try client.send("GET", "/db/a").json["_rev"]?.string ?? ""
        #expect(try client.send("PUT", "/db/a?rev=\(first)", ["n": 2]).status == 201)
        #expect(try client.send("PUT", "/db/long", ["text": long]).status == 201)
        let file: JSONValue = ["_attachments": ["file": ["content_type": "text/plain", "data": "aGk="]]]
        #expect(try client.send("PUT", "/db/held", file).status == 201)
        for path in [
            "/db/long", "/db", "/db/_all_docs", "/db/_changes", "/db/_design_docs", "/db/_local_docs",
            "/db/held?attachments=true", "/db/held?atts_since=[]", "/db/a?open_revs=all", "/db/a?rev=\(first)",
            "/db/a/file", "/absent/a", "/_all_dbs", "/_session", "/_uuids", "/no/such/path/at/all",
        ] {
            #expect(atOnce(client, "GET", path) == nil, "\(path)")
        }
        for method in ["PUT", "POST", "DELETE", "COPY", "OPTIONS", "PATCH"] {
            #expect(atOnce(client, method, "/db/a") == nil, "\(method)")
        }
        #expect(atOnce(client, "HEAD", "/db/a")?.status == 200)
    }

    @Test func `the polling thread checks no password before a worker has`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        #expect(atOnce(client, "GET", "/db/a", "YWRtaW46d3Jvbmc=") == nil)
        #expect(atOnce(client, "GET", "/db/a")?.status == 200)
        let fresh = try RouterClient()
        #expect(atOnce(fresh, "GET", "/") == nil)
    }

    @Test func `an administrator without a document among the users is answered at once`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/_users").status == 201)
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        #expect(atOnce(client, "GET", "/db/a")?.status == 200)
        #expect(atOnce(client, "GET", "/db/absent")?.status == 404)
    }

    @Test func `a database that is not open is opened by a worker`() throws {
        let client = try RouterClient { $0.openDatabases = 1 }
        for name in ["one", "two"] { #expect(try client.send("PUT", "/\(name)").status == 201) }
        #expect(try client.send("PUT", "/one/a", ["n": 1]).status == 201)
        #expect(try client.send("GET", "/one/a").status == 200)
        #expect(atOnce(client, "GET", "/one/a")?.status == 200)
        #expect(try client.send("GET", "/two").status == 200)
        #expect(atOnce(client, "GET", "/one/a") == nil)
    }

    @Test func `a read is left to a worker while others use all connections`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        #expect(try client.send("GET", "/db/a").status == 200)
        let database = try client.server.state.databases.open("db")
        withAllReaders(of: database) {
            #expect(atOnce(client, "GET", "/db/a") == nil)
            #expect(atOnce(client, "GET", "/_up")?.status == 200)
        }
        #expect(atOnce(client, "GET", "/db/a")?.status == 200)
    }

    @Test func `read access is checked at once too, and a change of it applies to the next request`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        func stranger() -> HTTPResponse? {
            client.server.router.respondAtOnce(
                to: ServerRequest(
                    method: "GET", target: RequestTarget("/db/a"), headers: ["Host": "test"], body: BufferedBody()))
        }
        #expect(try client.send("GET", "/db/a").status == 200)
        #expect(stranger()?.status == 401)
        let open: JSONValue = ["members": ["roles": [], "names": []], "admins": ["roles": [], "names": []]]
        for round in 0..<3 {
            #expect(try client.send("PUT", "/db/_security", open).status == 200)
            #expect(stranger() == nil, "what was known is not used any more, round \(round)")
            #expect(try client.send("GET", "/db/a").status == 200)
            #expect(stranger()?.status == 200)
            #expect(try client.send("PUT", "/db/_security", SecurityObject.standard).status == 200)
            #expect(try client.send("GET", "/db/a").status == 200)
            #expect(stranger()?.status == 401)
        }
    }

    @Test func `a database created again has no access rights of the old one`() throws {
        let client = try RouterClient.withDatabase()
        let open: JSONValue = ["members": ["roles": [], "names": []], "admins": ["roles": [], "names": []]]
        #expect(try client.send("PUT", "/db/_security", open).status == 200)
        #expect(try client.send("GET", "/db", headers: ["Authorization": "none"]).status == 200)
        #expect(try client.send("DELETE", "/db").status == 200)
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("GET", "/db", headers: ["Authorization": "none"]).status == 401)
    }
}
