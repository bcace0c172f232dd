internal import Settle

extension SimulationRun {
    /// The same leaves, winner and content everywhere, and the same trees where nothing was forgotten.
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

    /// No conflict is left where some replica promised to settle it.
    ///
    /// A merge promises it where the contents of all revisions in which the branches part are kept on whatever replica. So
    /// a conflict may be left only where one of them is kept nowhere, or where paths were cut, also those of branches that
    /// were closed, so that it is not known in which revision the branches part; and never where nothing was compacted or
    /// cut.
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
                // One that loses against the latest edit stays with the live leaves where these can't be merged: a document
                // is settled at once or not at all.
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

    /// Whatever was acknowledged is there, or was closed for something that is.
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
        try expect(phantoms.isEmpty, .nothingLost, "\(id) has \(Self.list(phantoms)), which nobody wrote")
        if !isStemmed {
            try expect(
                known == ledger.leaves && tree.count == ledger.entries.count, .nothingLost,
                "\(id) has \(tree.count) revisions, where \(ledger.entries.count) were written")
        }
        let lost = ledger.unaccounted(leaves: leaves, mayDelete: mayDelete)
        try expect(
            lost.isEmpty, .superseded, "of \(id) nothing that is kept took the place of \(Self.list(lost))")
        try expect(
            ledger.wasDeleted || mayDelete || !tree.isDeleted, .notVanished, "nobody deleted \(id), but it is gone")
        // A resolver that may delete a document decides so in sight of all its leaves. And where paths were cut, nobody
        // can tell that one leaf was written in sight of a deletion that another leaf has to give way to.
        if mayDelete || isStemmed { return }
        for (revision, entry) in ledger.entries {
            guard let survivor = entry.survivor, ledger.isUserDeletion(survivor) else { continue }
            for closed in ledger.path(revision) {
                try expect(
                    ledger.revivals[closed]?.contains(survivor) != true, .revived,
                    "\(closed) of \(id) brought it back in sight of \(survivor), and was closed in its favour")
            }
        }
    }
}
