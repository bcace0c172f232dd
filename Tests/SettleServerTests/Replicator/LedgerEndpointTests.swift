import Settle
import Testing

@testable import SettleServer

/// `_scheduler/ledger`: what a replication could not bring.
@Suite struct LedgerEndpointTests {
    @Test func `a replication that is not there has no ledger, and only administrators may ask`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        #expect(try client.send("GET", "/_scheduler/ledger/none+continuous").status == 404)
        #expect(try client.send("GET", "/_scheduler/ledger/none?limit=x").status == 400)
        #expect(try client.send(as: "anna:pw", "GET", "/_scheduler/ledger/none").status == 401)
        #expect(try client.send("POST", "/_scheduler/ledger/none").status == 405)
    }

    @Test func `the ledger of mobile connections is there as long as the database is`() throws {
        let client = try RouterClient.with(users: [:])
        let path = "/_scheduler/ledger/shop%2F_blipsync"
        #expect(try client.send("GET", path).status == 404)
        #expect(try client.send("PUT", "/shop").status == 201)
        let listed = try client.send("GET", path)
        #expect(listed.status == 200)
        #expect(listed.json["rows"] == [])
        #expect(try client.send("DELETE", "/shop").status == 200)
        #expect(try client.send("GET", path).status == 404)
    }
}
