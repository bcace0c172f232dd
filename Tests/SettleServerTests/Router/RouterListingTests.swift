import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite struct RouterListingTests {
    private func client(_ names: [String]) throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let docs = names.map { JSONValue.object(JSONObject([("_id", .string($0))])) }
        _ = try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)])
        return client
    }

    private func ids(_ answer: Answer) -> [String] {
        answer.json["rows"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test func `a list longer than a page is complete`() throws {
        let names = (0..<1234).map { String(100_000 + $0) }
        let client = try client(names)
        #expect(ids(try client.send("GET", "/db/_all_docs")) == names)
        #expect(ids(try client.send("GET", "/db/_all_docs?descending=true")) == names.reversed())
        let part = try client.send("GET", "/db/_all_docs?skip=300&limit=500&startkey=%22100100%22")
        #expect(ids(part) == Array(names[400..<900]))
        #expect(part.json["offset"] == 400 && part.json["total_rows"] == 1234)
    }

    @Test func `design and local documents have separate lists`() throws {
        let client = try client(["a", "_design/d", "_local/l"])
        #expect(ids(try client.send("GET", "/db/_all_docs")) == ["_design/d", "a"])
        #expect(ids(try client.send("GET", "/db/_design_docs")) == ["_design/d"])
        #expect(ids(try client.send("GET", "/db/_local_docs")) == ["_local/l"])
    }

    @Test func `keys are listed in their order, with missing ones`() throws {
        let client = try client(["a", "b"])
        let answer = try client.send("POST", "/db/_all_docs", ["keys": ["b", "none", "a", "b"]])
        #expect(answer.json["rows"]?.array?.map { $0["key"] } == ["b", "none", "a", "b"])
        #expect(answer.json["rows"]?[1] == ["key": "none", "error": "not_found"])
        #expect(answer.json["offset"] == .null)
    }

    @Test func `a list of one key includes a missing or deleted document, but not one of several queries`() throws {
        let client = try client(["a", "gone"])
        let rev = try client.send("GET", "/db/gone").json["_rev"]?.string ?? ""
        _ = try client.send("DELETE", "/db/gone?rev=\(rev)")
        let missing: JSONValue = [["key": "none", "error": "not_found"]]
        #expect(try client.send("POST", "/db/_all_docs", ["keys": ["none"]]).json["rows"] == missing)
        #expect(try client.send("GET", "/db/_all_docs?keys=[%22none%22]").json["rows"] == missing)
        #expect(try client.send("GET", "/db/_all_docs?keys=[%22none%22]&key=%22none%22").json["rows"] == missing)
        let gone = try client.send("POST", "/db/_all_docs?include_docs=true", ["keys": ["gone"]]).json["rows"]?[0]
        #expect(gone?["value"]?["deleted"] == true && gone?["doc"] == .null)
        let queries: JSONValue = ["queries": [["keys": ["none"]], ["keys": ["none", "a"]]]]
        let results = try client.send("POST", "/db/_all_docs/queries", queries).json["results"]
        #expect(results?[0]?["rows"] == [] && results?[1]?["rows"]?[0] == missing[0])
        #expect(try client.send("GET", "/db/_all_docs?keys=[%22a%22]&key=%22b%22").status == 400)
    }

    /// Pages have grown by small documents when they come to large ones.
    @Test func `lists with documents are complete where large ones follow small ones`() throws {
        let names = (0..<400).map { String(1000 + $0) }
        let client = try client(names)
        let large = (0..<9).map { "b\($0)" }
        let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
        for id in large { _ = try client.send("PUT", "/db/\(id)", ["text": text]) }
        let all: JSONValue = .array((names + large).map { .string($0) })
        #expect(ids(try client.send("GET", "/db/_all_docs?include_docs=true")) == names + large)
        #expect(ids(try client.send("POST", "/db/_all_docs?include_docs=true", ["keys": all])) == names + large)
        let some: JSONValue = ["doc_ids": .array((names.suffix(300) + large).map { .string($0) })]
        for answer in [
            try client.send("GET", "/db/_changes?include_docs=true"),
            try client.send("POST", "/db/_changes?include_docs=true&filter=_doc_ids", some),
        ] {
            let rows = answer.json["results"]?.array?.suffix(9) ?? []
            #expect(rows.compactMap { $0["doc"]?["_id"]?.string } == large)
            #expect(rows.allSatisfy { $0["doc"]?["text"] == text })
        }
    }

    @Test func `a page of keys ends at some megabytes`() throws {
        let database = try Database.inMemory()
        let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
        let ids = (0..<12).map { "b\($0)" }
        for id in ids { try database.save(Document(id: DocumentID(unchecked: id), body: ["text": text])) }
        var query = ListingQuery()
        (query.hasDocuments, query.keys) = (true, ids.map { .string($0) })
        let listing = DocumentListing(database: database, query: query, namespace: .all, metrics: Metrics())
        var (position, pages) = (try listing.begin().position, [Int]())
        while let rows = try listing.next(&position) { pages.append(rows.count) }
        #expect(pages.reduce(0, +) == 12)
        #expect(pages.allSatisfy { $0 <= 5 })
    }

    @Test func `a list goes past a thousand deleted documents in one step`() throws {
        let names = (0..<1000).map { "d\($0)" }
        let client = try RouterClient.withDatabase()
        let docs = (names + ["z"]).map { ["_id": .string($0), "_deleted": .bool($0 != "z")] as JSONValue }
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)]).status == 201)
        let response = client.server.router.respond(
            to: ServerRequest(
                method: "GET", target: RequestTarget("/db/_all_docs"),
                headers: ["Authorization": "Basic YWRtaW46YWRtaW4="], body: BufferedBody()))
        guard case .stream(let stream, _) = response.body.content else { return #expect(response.status == 200) }
        var text = ""
        var steps = 0
        while case .piece(let bytes) = try stream.next() {
            steps += 1
            text += String(decoding: bytes, as: UTF8.self)
        }
        #expect(steps <= 4)
        let list = try JSONValue(parsing: text)
        #expect(list["total_rows"] == 1 && list["rows"]?.array?.map { $0["id"] } == ["z"])
    }
}
