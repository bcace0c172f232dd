internal import Settle

extension SimulationRun {
    /// How many rounds of exchanging everything and settling may write anything.
    ///
    /// One, where all replicas have one pure policy that always settles and looks at branches only, and nothing was cut: all
    /// have the same leaves after the exchange, and write the same (SEMANTICS 82).
    ///
    /// Three, where the policy also looks at bases or deletions. Not every replica has the contents of the bases; and not
    /// every one knows which tombstones are users' deletions, for a peer tells so only while the document is deleted
    /// there (K2). So some write what others don't, and those who know of a deletion may have to decide it once more.
    ///
    /// Else five. In the first all settle the same leaves, so that each result is the winner or a child of it, or a
    /// deletion. Then results that answer one question are made one without asking, which takes the second. Policies that
    /// look at deletions close other leaves than those that don't, so that their results answer two questions and are
    /// settled once more: the third, and made one: the fourth. What was cut may take a round to find its path.
    var maximumRounds: Int {
        let isUniform = Set(schedule.policies.map(\.name)).count == 1 && replicas[0].policy.isPure
        guard isUniform, !isStemmed else { return 5 }
        return replicas[0].policy.settles != .whereBasesAreKept && replicas[0].settler.kinds == [.branches] ? 1 : 3
    }

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
                outcome.rounds <= maximumRounds, .quiet, "after \(outcome.rounds) rounds replicas still write")
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
            try checkStamps(id)
        }
        for replica in replicas where schedule.seed % 8 == 0 {
            let report = try replica.database.verify()
            try expect(report.isSound, .sound, "replica \(replica.index): \(report.problems.joined(separator: "; "))")
        }
    }
}
