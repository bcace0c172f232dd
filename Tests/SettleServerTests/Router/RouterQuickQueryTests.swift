import Settle
import SettleDatabase
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Queries and views answered on the polling thread: a few rows of an existing index, with the same answers.
@Suite(.timeLimit(.minutes(5))) struct RouterQuickQueryTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts()
        let documents = (0..<200).map { number -> JSONValue in
            ["_id": .string("d\(number)"), "n": .number(JSONNumber(number)), "name": .string("N\(number % 7)")]
        }
        try client.load(documents)
        let index: JSONValue = ["index": ["fields": ["n"]], "ddoc": "i", "name": "n"]
        #expect(try client.send("POST", "/db/_index", index).status == 200)
        let design: JSONValue = [
            "views": [
                "n": ["map": "function(doc) { emit(doc.n, doc.name); }"],
                "sum": ["map": "function(doc) { emit(doc.name, doc.n); }", "reduce": "_sum"],
            ]
        ]
        #expect(try client.send("PUT", "/db/_design/v", design).status == 201)
        return client
    }

    private func atOnce(_ client: RouterClient, _ method: String, _ path: String, _ body: JSONValue? = nil) -> [UInt8]?
    {
        let headers: HTTPHeaders = [
            "Host": "test", "Accept": "application/json", "Authorization": "Basic YWRtaW46YWRtaW4=",
            "Content-Type": "application/json",
        ]
        let request = ServerRequest(
            method: method, target: RequestTarget(path), headers: headers, body: BufferedBody(body?.utf8 ?? []))
        if case .bytes(let bytes)? = client.server.router.respondAtOnce(to: request)?.body.content { return bytes }
        return nil
    }

    @Test func `a query of a few rows is answered at once like on a worker, once its index is up to date`() throws {
        let client = try client()
        for query: JSONValue in [
            ["selector": ["n": 7]], ["selector": ["n": ["$gte": 3, "$lt": 30], "name": "N3"]],
            ["selector": ["n": 1000]],
            ["selector": ["n": ["$gt": 10]], "limit": 40, "fields": ["n"]], ["selector": ["_id": "d5"]],
            ["selector": ["n": ["$lt": 5]], "sort": [["n": "desc"]]],
        ] {
            let later = try client.send("POST", "/db/_find", query)
            #expect(later.status == 200)
            #expect(atOnce(client, "POST", "/db/_find", query) == later.body, "\(query)")
        }
        let one: JSONValue = ["selector": ["n": 7]]
        #expect(try client.send("PUT", "/db/new", ["n": 7]).status == 201)
        #expect(atOnce(client, "POST", "/db/_find", one) == nil, "the index does not have what was just written")
        let found = try client.send("POST", "/db/_find", one)
        #expect(found.json["docs"]?.array?.count == 2)
        #expect(atOnce(client, "POST", "/db/_find", one) == found.body)
    }

    @Test func `a query left to a worker is answered there with its body`() throws {
        let client = try client()
        #expect(try client.send("PUT", "/db/new", ["n": 7]).status == 201)
        let query: JSONValue = ["selector": ["n": 7]]
        let headers: HTTPHeaders = [
            "Host": "test", "Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/json",
        ]
        let request = ServerRequest(
            method: "POST", target: RequestTarget("/db/_find"), headers: headers, body: BufferedBody(query.utf8))
        guard case .work(let work) = client.server.router.plan(request) else {
            Issue.record("the index does not have what was just written")
            return
        }
        let response = work()
        #expect(response.status == 200)
        if case .bytes(let bytes) = response.body.content {
            #expect(try JSONValue(utf8: bytes)["docs"]?.array?.count == 2)
        }
    }

    @Test func `a query that reads many documents, or each by a pattern, is left to a worker`() throws {
        let client = try client()
        for query: JSONValue in [
            ["selector": ["n": ["$gte": 0]], "limit": 100], ["selector": ["name": "N3"]], ["selector": [:]],
            ["selector": ["n": 7, "name": ["$regex": "N"]]], ["selector": ["n": ["$gte": 0], "name": "no"]],
            ["selector": ["n": 7, "$or": [["name": ["$not": ["$regex": "N"]]], ["a": 1]]]],
        ] {
            #expect(try client.send("POST", "/db/_find", query).status == 200)
            #expect(atOnce(client, "POST", "/db/_find", query) == nil, "\(query)")
        }
    }

    @Test func `a query that finds a long document, or looks at documents between two ids, is left to a worker`() throws
    {
        let client = try client()
        let long = JSONValue.string(String(repeating: "x", count: PromptDatabase.maximumBytes))
        #expect(try client.send("PUT", "/db/long", ["n": 1001, "text": long]).status == 201)
        for query: JSONValue in [
            ["selector": ["n": 1001]], ["selector": ["_id": "long"]],
            ["selector": ["_id": ["$gte": "d1"]], "limit": 5],
        ] {
            #expect(try client.send("POST", "/db/_find", query).json["docs"]?.array?.isEmpty == false)
            #expect(atOnce(client, "POST", "/db/_find", query) == nil)
        }
    }

    @Test func `a view's few rows are given at once as on a worker, once its index is up to date`() throws {
        let client = try client()
        for query in [
            "n?key=7", "n?startkey=3&endkey=9&include_docs=true", "n?limit=3&skip=2&descending=true", "n?key=-1",
        ] {
            let path = "/db/_design/v/_view/" + query
            let later = try client.send("GET", path)
            #expect(later.status == 200)
            #expect(atOnce(client, "GET", path) == later.body, "\(query)")
        }
        let path = "/db/_design/v/_view/n?key=7"
        #expect(try client.send("PUT", "/db/new", ["n": 7, "name": "new"]).status == 201)
        #expect(atOnce(client, "GET", path) == nil)
        let found = try client.send("GET", path)
        #expect(found.json["rows"]?.array?.count == 2)
        #expect(atOnce(client, "GET", path) == found.body)
        let stale = atOnce(client, "GET", path + "&update=false")
        #expect(stale == found.body)
    }

    @Test func `a view of many rows, a reduction, or of a changed design document is left to a worker`() throws {
        let client = try client()
        for query in ["n", "n?limit=100", "sum", "sum?group=true", "n?key=7&update=lazy"] {
            let path = "/db/_design/v/_view/" + query
            #expect(try client.send("GET", path).status == 200)
            #expect((atOnce(client, "GET", path) == nil) as Bool, "\(query)")
        }
        let path = "/db/_design/v/_view/n?key=7"
        #expect(try client.send("GET", path).status == 200)
        #expect((atOnce(client, "GET", "/db/_design/v/_view/n?startkey=0&endkey=150") == nil) as Bool)
        #expect(atOnce(client, "GET", path) != nil, "who reads the index goes on reading it")
        let old = try client.send("GET", "/db/_design/v").json
        var design = old.object ?? JSONObject()
        design["views"] = ["n": ["map": "function(doc) { emit(doc.n + 1, 'other'); }"]]
        #expect(try client.send("PUT", "/db/_design/v", .object(design)).status == 201)
        #expect(atOnce(client, "GET", path) == nil)
        #expect(try client.send("GET", path).json["rows"]?[0]?["id"] == "d6")
        #expect(
            try client.send(
                "DELETE", "/db/_design/v?rev=" + (client.send("GET", "/db/_design/v").json["_rev"]?.string ?? "")
            ).status == 200)
        #expect(try client.send("GET", path).status == 404)
    }
}
