import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Replicas that settle by the library, and one whose people settle over HTTP.
@Suite(.timeLimit(.minutes(5))) struct SettleFleetTests {
    private static let ids: [DocumentID] = ["a", "b", "c", "d"]

    @Test(arguments: 1...12)
    func `a replica that settles over HTTP goes quiet with the others, and no edit is lost`(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        var added: [DocumentID: Set<String>] = [:]
        let client = try RouterClient.withDatabase()
        let others = try (0..<2).map { _ in try TemporaryDatabase(.memory) }
        let fleet = [try client.server.state.databases.open("db")] + others.map(\.database)
        for _ in 0..<6 {
            for _ in 0..<8 {
                let (id, name) = try edit(fleet, added.values.reduce(0) { $0 + $1.count }, &random)
                added[id, default: []].insert(name)
            }
            try await exchange(fleet)
            try settle(fleet, client)
        }
        var quiet = false
        for _ in 0..<6 where !quiet {
            for _ in 0..<2 { try await exchange(fleet) }
            let before = try fleet.map { try $0.lastSequence() }
            try settle(fleet, client)
            quiet = try fleet.map { try $0.lastSequence() } == before
        }
        #expect(quiet, "seed \(seed)")
        for id in Self.ids {
            let leaves = try fleet.map { try $0.record(of: id)?.tree.leaves.map(\.revision) ?? [] }
            #expect(Set(leaves).count == 1, "seed \(seed): \(id)")
            let answer = try client.send("GET", "/db/_conflicts/\(id)").json
            #expect(answer["conflict"] != true, "seed \(seed): \(id)")
            let names = try client.send("GET", "/db/\(id)").json.object?.names ?? []
            let lost = (added[id] ?? []).subtracting(names)
            #expect(lost.isEmpty, "seed \(seed): \(id)")
        }
    }

    /// Adds a member of its own to some document, and changes one that others change too.
    private func edit(
        _ fleet: [Database], _ number: Int, _ random: inout SeededRandom
    ) throws -> (DocumentID, String) {
        let database = fleet[random.below(fleet.count)]
        let id = Self.ids[random.below(Self.ids.count)]
        var document = try database.document(id) ?? Document(id: id)
        document["own\(number)"] = .number(JSONNumber(number))
        document["shared"] = .number(JSONNumber(random.below(9)))
        try database.save(document, onConflict: .fail)
        return (id, "own\(number)")
    }

    private func exchange(_ fleet: [Database]) async throws {
        for target in fleet.indices {
            for source in fleet.indices where source != target {
                let configuration = ReplicationConfiguration(
                    source: LocalPeer(fleet[source]), target: LocalPeer(fleet[target]))
                _ = try await OneWayReplicator(configuration).run()
            }
        }
    }

    private func settle(_ fleet: [Database], _ client: RouterClient) throws {
        let answer = try client.send(
            "POST", "/db/_settle", ["policy": ["name": "threeWayMerge", "on_clash": "winner"]])
        #expect(answer.status == 200 && answer.json["failed"] == 0, "\(answer.text)")
        for database in fleet.dropFirst() {
            try database.settleAll(using: .threeWayMerge(MergeRules(onClash: .winner)))
        }
    }
}
