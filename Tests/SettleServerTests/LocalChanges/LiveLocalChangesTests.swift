import Foundation
import Settle
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// The steps of reference 003 with thin clients, over real HTTP (SEMANTICS 147–168).
@Suite(.timeLimit(.minutes(5))) struct LiveLocalChangesTests {
    private let live: LiveServer
    private let envelope = "17bb2c1c-313d-41a6-ae31-c90785155687"

    init() throws {
        live = try LiveServer()
        _ = try live.send("PUT", "/airmail")
        _ = try live.send("PUT", "/airmail/_attribute_clocks", "true")
    }

    private func upload(_ name: String, _ timestamp: Int) throws -> JSONValue {
        let body = """
            {"envelopes":[{"id":"\(envelope)","changes":[{"attribute":"name","value":"\(name)","timestamp":\(timestamp)}]}]}
            """
        let answer = try live.send("POST", "/airmail/_local_changes", body)
        #expect(answer.head.hasPrefix("HTTP/1.1 200"))
        return try #require(try JSONValue(utf8: answer.body)["envelopes"]?[0]?["changes"]?[0])
    }

    private var name: JSONValue? {
        get throws { try JSONValue(utf8: try live.send("GET", "/airmail/\(envelope)").body)["name"] }
    }

    // SEMANTICS 149, 160, 164
    @Test(arguments: [true, false])
    func `of John's and Marie's changes the later is kept, whoever uploads first`(johnFirst: Bool) throws {
        #expect(try upload("Holidays", 1_423_083_000)["outcome"] == "applied")
        if johnFirst {
            #expect(try upload("Holiday 2015", 1_423_083_400)["outcome"] == "applied")
            #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
        } else {
            #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
            let john = try upload("Holiday 2015", 1_423_083_400)
            #expect(john["outcome"] == "superseded")
            #expect(john["by"] == ["value": "Family Holidays", "timestamp": 1_423_083_500])
        }
        #expect(try name == "Family Holidays")
    }

    // SEMANTICS 149, 160, 164
    @Test func `a thin client sends changes by type and id, and reads their outcomes`() async throws {
        let peer = try CouchDBPeer(HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/airmail"))
        let id = try DocumentID(validating: envelope)
        func send(_ name: JSONValue?, _ time: Int64) async throws -> LocalChangeOutcome? {
            let change = PendingChange.Attribute(name: "name", value: name, time: Date(milliseconds: time))
            return try await peer.sendLocalChanges(["envelopes": [id: [change]], "transfers": ["none": []]]).first
        }
        let first = try #require(try await send("Family Holidays", 1_423_083_500_250))
        #expect(first.type == "envelopes" && first.documentID == id && first.refusal == nil)
        #expect(first.revision?.generation == 1 && first.attributes == ["name": .applied])
        let late = try #require(try await send("Holiday 2015", 1_423_083_400_000))
        #expect(
            late.attributes == ["name": .superseded(by: "Family Holidays", time: Date(milliseconds: 1_423_083_500_250))]
        )
        #expect(try name == "Family Holidays")
        let ahead = try #require(try await send("from the future", 7_000_000_000_000))
        #expect(ahead.revision == nil && ahead.attributes.isEmpty)
        #expect(ahead.refusal?.hasPrefix("forbidden: The timestamp of `name` is ahead") == true)
        #expect(try await send(nil, 1_423_083_600_000)?.attributes == ["name": .applied])
        #expect(try name == nil)
        #expect(try await peer.sendLocalChanges(["transfers": ["none": []]]).isEmpty)
    }

    // SEMANTICS 149, 150
    @Test func `a device sends its journal as local changes`() async throws {
        var options = DatabaseOptions()
        options.journal = true
        let device = try TemporaryDatabase(.memory, options: options)
        try device.database.save(
            Document(id: "a", body: ["type": "envelopes", "name": "A", "budget": 7]), onConflict: .fail)
        try device.database.save(Document(id: "t", body: ["type": "transfers", "envelope": "a"]), onConflict: .fail)
        let peer = try CouchDBPeer(HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/airmail"))
        let changes = try #require(try device.database.journal?.pendingByType())
        let outcomes = try await peer.sendLocalChanges(changes)
        #expect(outcomes.map(\.documentID) == ["a", "t"] && outcomes.allSatisfy { $0.refusal == nil })
        let stored = try JSONValue(utf8: try live.send("GET", "/airmail/a").body)
        #expect(stored["name"] == "A" && stored["budget"] == 7 && stored["type"] == "envelopes")
        // A CouchDB has no such endpoint.
        _ = try live.send("PUT", "/plain")
        let plain = try CouchDBPeer(HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/plain"))
        let error = await #expect(throws: PeerError.self) { try await plain.sendLocalChanges(changes) }
        #expect(error?.code == .badRequest && error?.message.contains("clocks are off") == true)
    }

    // SEMANTICS 157, 168
    @Test func `a thin client and a device that replicates edit one document`() async throws {
        #expect(try upload("Holidays", 1_423_083_000)["outcome"] == "applied")
        var options = DatabaseOptions()
        options.attributeClocks = true
        let device = try TemporaryDatabase(.memory, options: options)
        let url = try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/airmail")
        let peer = try CouchDBPeer(url, client: DefaultTransport())
        _ = try await OneWayReplicator(.pull(device.database, from: peer)).run()
        let id = try DocumentID(validating: envelope)
        var document = try #require(try device.database.document(id))
        document["budget"] = "50.00"
        try device.database.save(document, onConflict: .fail)
        // Meanwhile the thin client changes the same object.
        #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
        _ = try await OneWayReplicator(.pull(device.database, from: peer)).run()
        try device.database.settle(id, using: .latestAttributeWins)
        _ = try await OneWayReplicator(.push(device.database, to: peer)).run()
        let merged = try JSONValue(utf8: try live.send("GET", "/airmail/\(envelope)?conflicts=true").body)
        #expect(merged["name"] == "Family Holidays" && merged["budget"] == "50.00" && merged["_conflicts"] == nil)
        // Changes that the thin client sends again have no effect, and its later changes have.
        #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
        #expect(try upload("Holiday 2015", 1_423_083_400)["outcome"] == "superseded")
        let again = try JSONValue(utf8: try live.send("GET", "/airmail/\(envelope)").body)
        #expect(again["_rev"] == merged["_rev"])
    }
}
