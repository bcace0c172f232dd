import Settle
import Testing

@testable import SettleServer

/// The parameters of a list of documents, in the query and in the body.
@Suite struct ListingRequestTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b", "c", "d"] {
            for place in ["", "_design/", "_local/"] {
                #expect(try client.send("PUT", "/db/\(place)\(name)", [:]).status == 201)
            }
        }
        return client
    }

    private func ids(_ answer: Answer) -> [String] {
        answer.json["rows"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test(arguments: [("_all_docs", ""), ("_design_docs", "_design/"), ("_local_docs", "_local/")])
    func `a parameter of the query overrides the one of the body`(list: String, prefix: String) throws {
        let client = try client()
        let start = "&startkey=%22\(prefix)a%22"
        let body: JSONValue = ["limit": 4, "skip": 0, "startkey": .string(prefix + "d"), "descending": false]
        let answer = try client.send("POST", "/db/\(list)?limit=2&skip=1" + start, body)
        #expect(ids(answer) == [prefix + "b", prefix + "c"])
        let keys: JSONValue = ["keys": [.string(prefix + "a"), .string(prefix + "b")]]
        let other = "?keys=[%22\(prefix)c%22,%22\(prefix)d%22]"
        #expect(ids(try client.send("POST", "/db/\(list)" + other, keys)) == [prefix + "c", prefix + "d"])
        // One of the two has more parameters than a list of one key.
        let one: JSONValue = ["keys": [.string(prefix + "a")]]
        #expect(try client.send("POST", "/db/\(list)?key=%22\(prefix)b%22", one).status == 400)
        #expect(ids(try client.send("POST", "/db/\(list)?skip=1", one)) == [])
        #expect(ids(try client.send("POST", "/db/\(list)?skip=0", ["keys": keys["keys"] ?? [], "skip": 1])).count == 2)
    }

    @Test func `each of several queries has its own keys`() throws {
        let client = try client()
        let body: JSONValue = ["queries": [["startkey": "c"], ["keys": ["a", "d"]]]]
        let results = try client.send("POST", "/db/_all_docs/queries?keys=[%22x%22,%22y%22]", body).json["results"]
        #expect(results?[0]?["rows"]?.array?.compactMap { $0["id"] } == ["c", "d"])
        #expect(results?[1]?["rows"]?.array?.compactMap { $0["id"] } == ["a", "d"])
    }

    @Test func `a key that is not text is listed unchanged, without a document`() throws {
        let client = try client()
        let keys: JSONValue = [1, nil, "a", ["a"], ["x": 1.5], true]
        let rows = try client.send("POST", "/db/_all_docs?include_docs=true", ["keys": keys]).json["rows"]
        #expect(rows?.array?.compactMap { $0["key"] } == keys.array)
        for index in [0, 1, 3, 4, 5] { #expect(rows?[index]?["error"] == "not_found") }
        #expect(rows?[2]?["id"] == "a")
        // It names neither a design nor a local document, so it is skipped.
        #expect(try client.send("POST", "/db/_design_docs", ["keys": keys]).json["rows"] == [])
        #expect(try client.send("POST", "/db/_local_docs", ["keys": keys]).json["rows"] == [])
    }
}
