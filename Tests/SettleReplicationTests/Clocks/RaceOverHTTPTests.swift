import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettlePlatform
import SettleReplication
import SettleTesting
import Testing

/// The race of reference 003 between two devices and a server without clocks, at each available server.
@Suite(.timeLimit(.minutes(5))) struct RaceOverHTTPTests {
    private let home = PeerHome()
    private let noon: Int64 = 1_423_137_600_000

    /// A device with a wall clock of its own.
    private final class Device {
        let wall: Guarded<Int64>
        private let temporary: TemporaryDatabase
        private let peer: CouchDBPeer

        init(_ peer: CouchDBPeer, at time: Int64) throws {
            let wall = Guarded(time)
            var options = DatabaseOptions()
            options.attributeClocks = true
            options.now = { Date(milliseconds: wall.withLock(\.self)) }
            self.wall = wall
            self.peer = peer
            temporary = try TemporaryDatabase(.memory, options: options)
        }

        var database: Database { temporary.database }

        func up() async throws {
            _ = try await OneWayReplicator(.push(database, to: peer)).run()
        }

        func down() async throws {
            _ = try await OneWayReplicator(.pull(database, from: peer)).run()
            try database.settleAll(using: .latestAttributeWins)
        }

        func set(_ name: String, at time: Int64) throws {
            wall.withLock { $0 = time }
            var document = try database.document("17bb2c1c") ?? Document(id: "17bb2c1c")
            document["name"] = .string(name)
            try database.save(document, onConflict: .fail)
        }

        var name: JSONValue? { get throws { try database.document("17bb2c1c")?["name"] } }
    }

    // SEMANTICS 160, 161, 164, 168
    @Test(
        arguments: ServerKind.all,
        [(1000, 2000, "Family Holidays"), (3000, 2000, "Holiday 2015")] as [(Int64, Int64, JSONValue)])
    func `the later name wins on both devices and on the server`(
        _ kind: ServerKind, _ times: (john: Int64, marie: Int64, winner: JSONValue)
    ) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let first = try Device(peer, at: noon)
        try first.set("Holidays", at: noon)
        try await first.up()
        let (john, marie) = (try Device(peer, at: noon), try Device(peer, at: noon))
        // The devices must not learn the server's time, which differs from this test's: they get the document without
        // replication.
        for device in [john, marie] {
            let tree = try #require(try first.database.tree(of: "17bb2c1c"))
            let winner = try #require(tree.winner?.revision)
            let history = try #require(tree.history(of: winner))
            let body = try #require(try first.database.document("17bb2c1c")?.body())
            try device.database.insertReplicated([ReplicatedRevision(id: "17bb2c1c", history: history, body: body)])
        }
        try john.set("Holiday 2015", at: noon + times.john)
        try marie.set("Family Holidays", at: noon + times.marie)
        try await john.up()
        try await marie.down()
        #expect(try marie.name == times.winner)
        try await marie.up()
        try await john.down()
        let late = try Device(peer, at: noon)
        try await late.down()
        for device in [john, marie, late] { #expect(try device.name == times.winner) }
        #expect(try john.database.conflictedDocumentIDs().isEmpty && late.database.conflictedDocumentIDs().isEmpty)
    }

    // SEMANTICS 159
    @Test(arguments: ServerKind.all)
    func `a device whose clock is far ahead takes the server's time from a replication`(_ kind: ServerKind) async throws
    {
        let peer = try home.peer(kind)
        try await peer.create()
        var time = DatabaseOptions().now().milliseconds
        let device = try Device(peer, at: time + 400 * 86_400_000)
        try await device.down()
        try device.set("Holidays", at: time + 400 * 86_400_000)
        time = DatabaseOptions().now().milliseconds
        let members = try #require(try device.database.document("17bb2c1c")?.json.object)
        let moment = try #require(ClockedDocument(members)["name"])
        #expect(abs(moment.milliseconds - time) < 5 * 60_000)
    }
}
