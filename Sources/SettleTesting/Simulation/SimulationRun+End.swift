internal import Settle

extension SimulationRun {
    /// How many rounds of exchanging everything and settling it may take until nobody writes any more.
    static let maximumRounds = 5

    /// Lets all replicas exchange everything and settle until nothing is written any more.
    func calmDown() throws {
        for replica in replicas { replica.group = 0 }
        var random = SeededRandom(seed: schedule.seed ^ 0x5E77_1E00)
        var pairs: [(source: Int, target: Int)] = []
        for source in replicas.indices {
            for target in replicas.indices where target != source { pairs.append((source, target)) }
        }
        var last = try state()
        while true {
            pairs.shuffle(using: &random)
            for pair in pairs { try exchangeAll(from: replicas[pair.source], to: replicas[pair.target]) }
            for replica in replicas { try fetchBases(for: replica) }
            for replica in replicas { for id in schedule.documents { try settle(id, on: replica) } }
            let now = try state()
            if now == last { return }
            last = now
            outcome.rounds += 1
            tell("    that was round \(outcome.rounds)")
            try expect(
                outcome.rounds <= Self.maximumRounds, .quiet, "after \(outcome.rounds) rounds replicas still write")
        }
    }

    private func state() throws -> [[TreeShape]] {
        try replicas.map { replica in try schedule.documents.map { TreeShape(try replica.tree($0)) } }
    }

    /// Checks all that has to be true when everybody is quiet.
    func check() throws {
        for id in schedule.documents {
            let trees = try replicas.map { try $0.tree(id) }
            try checkSame(id, trees)
            try checkSettled(id, trees)
            try checkKept(id, trees)
        }
        for replica in replicas where schedule.seed % 8 == 0 {
            let report = try replica.database.verify()
            try expect(report.isSound, .sound, "replica \(replica.index): \(report.problems.joined(separator: "; "))")
        }
    }
}
