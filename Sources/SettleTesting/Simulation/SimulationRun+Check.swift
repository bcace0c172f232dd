internal import Settle

extension SimulationRun {
    /// Checks that the leaves, the winner and the content are the same everywhere, and also the trees if nothing
    /// was stemmed.
    func checkSame(_ id: DocumentID, _ trees: [RevisionTree]) throws {
        let first = trees[0]
        for (index, tree) in trees.enumerated().dropFirst() {
            try expect(
                tree.leaves.map(\.revision) == first.leaves.map(\.revision)
                    && tree.leaves.map(\.isDeleted) == first.leaves.map(\.isDeleted), .sameEverywhere,
                """
                \(id) has the leaves \(Self.list(first.leaves.map(\.revision))) on replica 0 and \
                \(Self.list(tree.leaves.map(\.revision))) on replica \(index)
                """)
            try expect(
                isStemmed || TreeShape(tree) == TreeShape(first), .sameEverywhere,
                """
                \(id) has the revisions \(Self.list(first.revisions)) on replica 0 and \(Self.list(tree.revisions)) \
                on replica \(index), or some have other parents
                """)
        }
        let contents = try replicas.map { try content(of: id, on: $0) }
        try expect(
            contents.allSatisfy { $0 == contents[0] }, .sameEverywhere, "the winner of \(id) has not one content")
    }

    /// The winner's body, and its attachments with their contents.
    private func content(of id: DocumentID, on replica: SimulatedReplica) throws -> [String] {
        guard let document = try replica.database.document(id) else { return [] }
        let attachments = try document.attachments.map { attachment in
            "\(attachment.name) \(attachment.contentType) \(attachment.digest) \(attachment.revpos) "
                + "\(try replica.database.content(of: attachment))"
        }
        return [String(decoding: try document.body().utf8, as: UTF8.self)] + attachments
    }

    /// Checks that no conflict is left that a replica has promised to settle.
    ///
    /// A merge promises to settle if the contents of all revisions at which the branches part are kept on any
    /// replica. So a conflict may be left only in two cases: one of these contents is kept nowhere; or paths were
    /// stemmed, including those of closed branches, so that it is unknown where the branches part. If nothing was
    /// compacted or stemmed, no conflict may be left.
    func checkSettled(_ id: DocumentID, _ trees: [RevisionTree]) throws {
        var isLeft = false
        for (replica, tree) in zip(replicas, trees) {
            guard let conflict = try replica.conflict(id) else { continue }
            isLeft = isLeft || tree.isConflicted
            switch replica.policy.settles {
            case .always:
                throw SimulationProblem(
                    .settled, "replica \(replica.index) has left the conflict of \(id), \(Self.leaves(conflict))")
            case .never: break
            case .whereBasesAreKept:
                // If the live leaves can't be merged, a deletion that loses against the latest edit is kept with
                // them: a document is settled completely or not at all.
                let waits = replica.policy.name == "latestAttributeWinsDeletionsToo" && tree.isConflicted
                try expect(
                    conflict.deletions.isEmpty || waits, .settled,
                    "replica \(replica.index) has left a deletion of \(id), \(Self.leaves(conflict))")
                let missing = try replica.missingBases(id)
                try expect(
                    (isCompacted || isStemmed) && (missing.areCut || !missing.revisions.isEmpty), .settled,
                    "replica \(replica.index) has all bases of \(id) and has not merged \(Self.leaves(conflict))")
                for base in missing.revisions {
                    let holder = try replicas.first { try $0.database.document(id, revision: base) != nil }
                    try expect(
                        holder == nil, .settled,
                        "replica \(replica.index) lacks \(base) of \(id), which is kept elsewhere")
                }
            }
        }
        if isLeft { outcome.left += 1 }
    }

    /// Checks that every acknowledged revision exists, or was closed in favor of an existing one.
    func checkKept(_ id: DocumentID, _ trees: [RevisionTree]) throws {
        guard let ledger = ledgers[id] else { return }
        let tree = trees[0]
        let leaves = tree.leaves
        let mayDelete = schedule.policies.contains(where: \.mayDelete)
        let known = Set(leaves.map(\.revision))
        try expect(
            ledger.leaves.isSubset(of: known), .nothingLost,
            "\(id) has lost \(Self.list(ledger.leaves.subtracting(known).sorted()))")
        let phantoms = tree.revisions.filter { ledger.entries[$0] == nil }
        try expect(phantoms.isEmpty, .nothingLost, "\(id) has \(Self.list(phantoms)), which no client wrote")
        if !isStemmed {
            try expect(
                known == ledger.leaves && tree.count == ledger.entries.count, .nothingLost,
                "\(id) has \(tree.count) revisions, where \(ledger.entries.count) were written")
        }
        let lost = ledger.unaccounted(leaves: leaves, mayDelete: mayDelete)
        try expect(
            lost.isEmpty, .superseded, "of \(id) nothing that is kept took the place of \(Self.list(lost))")
        try expect(
            ledger.wasDeleted || mayDelete || !tree.isDeleted, .notVanished, "\(id) was never deleted, but it is gone")
        // A resolver that may delete a document does so with knowledge of all its leaves. With stemmed paths it is
        // unknown whether one leaf was written with knowledge of a deletion that another leaf has to give way to.
        if mayDelete || isStemmed { return }
        for (revision, entry) in ledger.entries {
            guard let survivor = entry.survivor, ledger.isUserDeletion(survivor) else { continue }
            for closed in ledger.path(revision) {
                try expect(
                    ledger.revivals[closed]?.contains(survivor) != true, .revived,
                    "\(closed) of \(id) brought it back in sight of \(survivor), and was closed in its favor")
            }
        }
    }
}

// MARK: - End

extension SimulationRun {
    /// The maximum number of rounds, of exchanging everything and settling, in which a replica may write.
    ///
    /// One, if all replicas have the same pure policy that always settles and uses only branches, and nothing was
    /// stemmed: all have the same leaves after the exchange, and write the same revisions (SEMANTICS 82).
    ///
    /// Three, if the policy also uses bases or deletions. Not every replica has the contents of the bases. And not
    /// every replica knows which tombstones are users' deletions, because a peer reports that only while the
    /// document is deleted there (K2). So some replicas write revisions that others don't, and replicas that know
    /// of a deletion may have to decide it once more.
    ///
    /// Otherwise five. In the first round all replicas settle the same leaves, so each result is the winner or a
    /// child of it, or a deletion. In the second, competing results are reduced to one without calling the policy.
    /// Policies that use deletions close other leaves than those that don't, so their results settle different
    /// conflicts; these are settled again in the third round, and reduced to one in the fourth. A stemmed revision
    /// may take a round to find its path.
    var maximumRounds: Int {
        let isUniform = Set(schedule.policies.map(\.name)).count == 1 && replicas[0].policy.isPure
        guard isUniform, !isStemmed else { return 5 }
        return replicas[0].policy.settles != .whereBasesAreKept && replicas[0].settler.kinds == [.branches] ? 1 : 3
    }

    /// Lets all replicas exchange everything and settle until none writes.
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
            log("    that was round \(outcome.rounds)")
            try expect(
                outcome.rounds <= maximumRounds, .quiet, "after \(outcome.rounds) rounds replicas still write")
        }
    }

    private func state() throws -> [[TreeShape]] {
        try replicas.map { replica in try schedule.documents.map { TreeShape(try replica.tree($0)) } }
    }

    /// Checks all rules that must hold when no replica writes any longer.
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

// MARK: - TreeShape

/// A tree as replicated, without the local marks of one replica.
struct TreeShape: Hashable {
    private let parents: [RevisionID: RevisionID?]
    private let leaves: [RevisionID: Bool]

    init(_ tree: RevisionTree) {
        parents = Dictionary(uniqueKeysWithValues: tree.revisions.map { ($0, tree.parent(of: $0)) })
        leaves = Dictionary(uniqueKeysWithValues: tree.leaves.map { ($0.revision, $0.isDeleted) })
    }
}
