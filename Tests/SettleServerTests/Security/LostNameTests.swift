import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// A browser or a proxy removes some names from a path. The database or document that contains the name must not be deleted then.
@Suite struct LostNameTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        for id in [".", "..", "_design/.", "_design/..", "doc"] {
            #expect(try client.send("POST", "/db", ["_id": .string(id), "x": 1]).status == 201)
        }
        return client
    }

    private func isWhole(_ client: RouterClient) throws -> Bool {
        try client.send("GET", "/db").json["doc_count"] == 5
    }

    /// What browsers make of `DELETE /db/{id}` and `DELETE /db/doc/{name}`.
    @Test(arguments: [
        "/db/", "/db//", "/db/?rev=1-967a00dff5e02add41819138abb3284d", "/db?rev=1-967a00dff5e02add41819138abb3284d",
        "/db/?x=1", "/db/doc/", "/db/_design/", "/db/_design/./", "/db/doc/a/",
    ])
    func `a deletion whose path ends with a slash, or has a revision for a database, is refused`(path: String) throws {
        let client = try client()
        let rev = try client.send("GET", "/db/doc").json["_rev"]?.string ?? ""
        let path = path.hasPrefix("/db/doc") ? "\(path)?rev=\(rev)" : path
        for headers in [[:], ["Accept": "application/json"], ["Content-Type": "text/plain"]] as [HTTPHeaders] {
            let answer = try client.send("DELETE", path, headers: headers)
            #expect(answer.status == 400, "\(path): \(answer.text)")
            #expect(try client.send("POST", path, headers: ["X-HTTP-Method-Override": "DELETE"]).status == 400)
        }
        #expect(try isWhole(client))
    }

    @Test func `PouchDB deletes a database by the path with a slash, and names the content type`() throws {
        let client = try client()
        let asPouch: HTTPHeaders = ["Content-Type": "application/json", "Accept": "application/json"]
        #expect(try client.send("DELETE", "/db/?rev=1-a", headers: asPouch).status == 400)
        #expect(try client.send("DELETE", "/db/doc/", headers: asPouch).status == 400)
        #expect(try isWhole(client))
        #expect(try client.send("DELETE", "/db/", headers: asPouch).status == 200)
        #expect(try client.send("GET", "/db").status == 404)
    }

    @Test func `documents with such ids are deleted by their escaped paths and by POST`() throws {
        let client = try client()
        for (id, path) in [(".", "%2E"), ("..", "%2e%2e"), ("_design/..", "_design/%2E%2E")] {
            let rev = try client.send("GET", "/db/\(path)").json["_rev"]?.string ?? ""
            #expect(try client.send("DELETE", "/db/\(path)?rev=\(rev)").json["id"] == .string(id))
        }
        let last = try client.send("GET", "/db/_design/%2E").json["_rev"] ?? .null
        let tombstone: JSONValue = ["_id": "_design/.", "_rev": last, "_deleted": true]
        #expect(try client.send("POST", "/db", tombstone).status == 201)
        #expect(try client.send("DELETE", "/db").status == 200)
    }
}
