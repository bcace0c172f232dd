internal import Settle

extension SimulationRun {
    /// The number of rounds of exchanging everything and settling that may write anything.
    ///
    /// One, if all replicas have one pure policy that always settles and uses branches only, and nothing was stemmed:
    /// all have the same leaves after the exchange, and write the same revisions (SEMANTICS 82).
    ///
    /// Three, if the policy also uses bases or deletions. Not every replica has the contents of the bases; and not
    /// every replica knows which tombstones are users' deletions, because a peer reports that only while the document
    /// is deleted there (K2). So some write revisions that others don't, and replicas that know of a deletion may
    /// have to decide it once more.
    ///
    /// Otherwise five. In the first all settle the same leaves, so that each result is the winner or a child of it,
    /// or a deletion. In the second, racing resolutions are reduced to one without calling the policy. Policies that
    /// use deletions close other leaves than those that don't, so that their results settle different conflicts and
    /// are settled again in the third, and reduced to one in the fourth. A stemmed revision may take a round to find
    /// its path.
    var maximumRounds: Int {
        let isUniform = Set(schedule.policies.map(\.name)).count == 1 && replicas[0].policy.isPure
        guard isUniform, !isStemmed else { return 5 }
        return replicas[0].policy.settles != .whereBasesAreKept && replicas[0].settler.kinds == [.branches] ? 1 : 3
    }

    /// Lets all replicas exchange everything and settle until none writes any more.
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

    /// Checks all rules that must hold once no replica writes any more.
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
