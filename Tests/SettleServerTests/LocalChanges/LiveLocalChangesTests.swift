import Settle
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Reference 003 step by step with thin clients, over real HTTP (SEMANTICS 147–168).
@Suite(.timeLimit(.minutes(5))) struct LiveLocalChangesTests {
    private let live: LiveServer
    private let envelope = "17bb2c1c-313d-41a6-ae31-c90785155687"

    init() throws {
        live = try LiveServer()
        _ = try live.send("PUT", "/airmail")
        _ = try live.send("PUT", "/airmail/_attribute_clocks", "true")
    }

    private func upload(_ name: String, _ timestamp: Int) throws -> JSON {
        let body = """
            {"envelopes":[{"id":"\(envelope)","changes":[{"attribute":"name","value":"\(name)","timestamp":\(timestamp)}]}]}
            """
        let answer = try live.send("POST", "/airmail/_local_changes", body)
        #expect(answer.head.hasPrefix("HTTP/1.1 200"))
        return try #require(try JSON(utf8: answer.body)["envelopes"]?[0]?["changes"]?[0])
    }

    private var name: JSON? {
        get throws { try JSON(utf8: try live.send("GET", "/airmail/\(envelope)").body)["name"] }
    }

    // SEMANTICS 149, 160, 164
    @Test(arguments: [true, false])
    func `of John's and Marie's changes the later stays, whoever uploads first`(johnFirst: Bool) throws {
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

    // SEMANTICS 157, 168
    @Test func `a thin client and a device that replicates meet in one document`() async throws {
        #expect(try upload("Holidays", 1_423_083_000)["outcome"] == "applied")
        var options = DatabaseOptions()
        options.attributeClocks = true
        let device = try TemporaryDatabase(.memory, options: options)
        let url = try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/airmail")
        let peer = try CouchDBPeer(url, client: CurlHTTPClient())
        _ = try await Replicator(.pull(device.database, from: peer)).run()
        let id = try DocumentID(validating: envelope)
        var document = try #require(try device.database.document(id))
        document["budget"] = "50.00"
        try device.database.save(document, onConflict: .fail)
        // Meanwhile the thin client changes the same object.
        #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
        _ = try await Replicator(.pull(device.database, from: peer)).run()
        try device.database.settle(id, using: .latestAttributeWins)
        _ = try await Replicator(.push(device.database, to: peer)).run()
        let merged = try JSON(utf8: try live.send("GET", "/airmail/\(envelope)?conflicts=true").body)
        #expect(merged["name"] == "Family Holidays" && merged["budget"] == "50.00" && merged["_conflicts"] == nil)
        // What the thin client sends again changes nothing, and what it changes later does.
        #expect(try upload("Family Holidays", 1_423_083_500)["outcome"] == "applied")
        #expect(try upload("Holiday 2015", 1_423_083_400)["outcome"] == "superseded")
        let again = try JSON(utf8: try live.send("GET", "/airmail/\(envelope)").body)
        #expect(again["_rev"] == merged["_rev"])
    }
}
