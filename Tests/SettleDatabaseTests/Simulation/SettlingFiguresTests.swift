import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Devices that all settle the same conflict concurrently: the number of revisions once they converge (SEMANTICS 82).
@Suite struct SettlingFiguresTests {
    /// One base, an edit on each device, one result, and a tombstone for each edit but the winner.
    @Test(arguments: [(2, 5), (3, 7), (5, 11)])
    func `devices that all settle at once stop writing after one round`(devices: Int, revisions: Int) throws {
        let fleet = try Fleet(devices)
        let policy = ConflictPolicy.threeWayMerge()
        let rounds = try fleet.rounds { database, _ in
            try database.settle("a", using: policy).outcome == .settled
        }
        #expect(rounds == 1)
        for database in fleet.databases {
            #expect(try database.tree(of: "a")?.count == revisions)
            #expect(try database.tree(of: "a")?.leaves.count { !$0.isDeleted } == 1)
        }
    }

    @Test(arguments: [2, 3, 5])
    func `devices with an impure resolver stop writing too, because racing answers are merged`(devices: Int) throws {
        let fleet = try Fleet(devices)
        let rounds = try fleet.rounds { database, device in
            let policy = ConflictPolicy.custom("clock") { conflict in
                var merged = conflict.winner
                merged["at"] = .number(JSONNumber(device.now()))
                return .document(merged)
            }
            return try database.settle("a", using: policy).outcome == .settled
        }
        #expect(rounds == 2)
    }

    @Test(arguments: [2, 3, 5])
    func `devices with random ids keep writing for twelve rounds`(devices: Int) throws {
        let fleet = try Fleet(devices)
        let rounds = try fleet.rounds { database, device in
            let before = try database.lastSequence()
            try PlantedFaults.randomMember.settleOnce("a", in: database, as: device)
            return try database.lastSequence() != before
        }
        #expect(rounds == nil)
    }
}

/// Devices with one document, which each of them has edited.
private struct Fleet {
    let databases: [Database]

    init(_ count: Int) throws {
        var quiet = DatabaseOptions()
        quiet.warn = { _ in }
        let options = quiet
        databases = try (0..<count).map { _ in try Database.plain(options: options) }
        try databases[0].save(Document(id: "a", body: ["base": true]), onConflict: .fail)
        try exchange()
        for (index, database) in databases.enumerated() {
            guard var document = try database.document("a") else { continue }
            document["m\(index)"] = .number(JSONNumber(index))
            try database.save(document, onConflict: .fail)
        }
    }

    /// In how many of twelve rounds some device settled; `nil` if one did in each.
    func rounds(_ settle: (Database, SimulatedDevice) throws -> Bool) throws -> Int? {
        let devices = databases.indices.map { SimulatedDevice(replica: $0, seed: 82) }
        for round in 0..<12 {
            try exchange()
            var isQuiet = true
            for (database, device) in zip(databases, devices) where try settle(database, device) { isQuiet = false }
            if isQuiet { return round }
        }
        return nil
    }

    private func exchange() throws {
        for source in databases {
            for leaf in try source.leaves(of: "a") {
                guard let revision = leaf.revision, let history = try source.tree(of: "a")?.history(of: revision) else {
                    continue
                }
                let sent = ReplicatedRevision(
                    id: "a", history: history, isDeleted: leaf.isDeleted, body: try leaf.body())
                for target in databases where target !== source { try target.insertReplicated([sent]) }
            }
        }
    }
}
