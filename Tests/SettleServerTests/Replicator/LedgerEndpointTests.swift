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
}
