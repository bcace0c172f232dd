import Settle
import SettleDatabase
import SettleHTTP
import SettleReplication
import Testing

/// Reports whether the pairs with a real CouchDB run: they are skipped if none is available.
@Suite(
    .enabled(
        if: ServerKind.all.contains(.couchdb), "SETTLE_COUCHDB_URL names no CouchDB, so the pairs with one are left out"
    ))
struct LiveCouchDBTests {
    @Test func `the configured CouchDB answers, and may be written to`() async throws {
        let url = try PeerHome().url(.couchdb)
        let peer = try CouchDBPeer(url)
        try await peer.create()
        #expect(try await peer.connect().instance != nil)
        _ = try await CouchDBConnection(database: url, client: DefaultTransport()).json("DELETE", "")
    }
}
