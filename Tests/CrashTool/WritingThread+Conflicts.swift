import Settle
import SettleCore
import SettleDatabase
import SettleTesting

/// Documents that are edited concurrently and settled, repeatedly: `c-…`.
///
/// Each has one conflict at a time: branches are made in one transaction where there was one leaf, and stay unedited until
/// they are settled. So a partial resolution shows in the tree alone, without the plan that was noted before.
extension WritingThread {
    private static let policies: [ConflictPolicy] = [
        .threeWayMerge(), .threeWayMerge(deletionsWin: true), .mostRevisions, .deletesWin, .localWins, .remoteWins,
        .custom("last", version: "1") { conflict in
            conflict.liveLeaves.last?.revision.map { .keep($0) } ?? .leaveConflicted
        },
        .custom("delete", deletions: true) { _ in .delete },
    ]

    private mutating func policy() -> ConflictPolicy { Self.policies.randomElement(using: &random) ?? .deletesWin }

    mutating func partedID() throws -> DocumentID {
        try DocumentID(validating: "c-\(number)-\(Int.random(in: 0..<8, using: &random))")
    }

    /// Makes branches, or settles those made before.
    mutating func partOrSettle() throws {
        let id = try partedID()
        if try database.conflict(of: id) == nil { return try part(id) }
        try settle(id)
    }

    /// Makes branches, in one transaction, on the live leaf of a document; a new or deleted document is written first.
    private mutating func part(_ id: DocumentID) throws {
        let attachments = try (0..<3).map { _ in try attachment() }
        var lines: [[String]] = []
        try database.transaction {
            lines = []
            var base = try database.document(id) ?? Document(id: id)
            if base.revision == nil {
                base = try database.save(edited(base), onConflict: .fail)
                lines.append(["S", id.string, name(base.revision)])
            }
            guard let start = base.revision, let path = try database.tree(of: id)?.history(of: start) else { return }
            // One side is usually this database's.
            if Int.random(in: 0..<5, using: &random) > 0 { lines.append(try editHere(base, attachments[0])) }
            let theirs = Int.random(in: 1...2, using: &random)
            for index in 1...theirs { lines.append(try editThere(base, path, attachments[index], index)) }
        }
        for line in lines { Journal.note(line.joined(separator: " ")) }
    }

    private mutating func editHere(
        _ base: Document, _ attachment: (DocumentAttachment, AttachmentContent)?
    ) throws -> [String] {
        if Int.random(in: 0..<6, using: &random) == 0 {
            let tombstone = try database.delete(base, onConflict: .fail)
            return ["D", base.id.string, name(tombstone?.revision)]
        }
        var document = edited(base)
        document["here"] = tick()
        if let attachment { document.attach(attachment.0) }
        return line(try database.save(document, onConflict: .fail).revision, of: base.id, attachment)
    }

    /// An edit or a deletion on the same base, as a peer sends it, one or two revisions long.
    private mutating func editThere(
        _ base: Document, _ path: RevisionHistory, _ attachment: (DocumentAttachment, AttachmentContent)?, _ index: Int
    ) throws -> [String] {
        let signatures = (0..<Int.random(in: 1...2, using: &random)).map { _ in signature() }
        let history = try RevisionHistory(
            start: path.start + UInt64(signatures.count), signatures: signatures + path.signatures)
        let isDeleted = Int.random(in: 0..<4, using: &random) == 0
        var document = base
        document["there \(index)"] = tick()
        var revision = ReplicatedRevision(
            id: base.id, history: history, isDeleted: isDeleted, body: isDeleted ? .empty : try document.body())
        revision.isDeletionAtSource = isDeleted && Bool.random(using: &random)
        if !isDeleted { revision.attachments = attachment.map { [$0.0] } ?? base.attachments }
        try insert([revision])
        return isDeleted
            ? ["D", base.id.string, name(history.revision)] : line(history.revision, of: base.id, attachment)
    }

    /// Inserts another replica's result for a conflict that was settled here: a sibling of the result, and the same
    /// branches closed for it.
    mutating func insertRacingAnswer() throws {
        let id = try partedID()
        guard try database.conflict(of: id) == nil, let tree = try database.tree(of: id), let winner = tree.winner,
            !winner.isDeleted, let parent = tree.parent(of: winner.revision), let path = tree.history(of: parent),
            tree.revisions.filter({ tree.parent(of: $0) == parent }).count == 1
        else { return }
        let closed = try tree.leaves.filter { leaf in
            try database.document(id, revision: leaf.revision)?["$closed"]?.string == name(winner.revision)
        }
        let answer = try RevisionHistory(start: path.start + 1, signatures: [signature()] + path.signatures)
        var revisions = [ReplicatedRevision(id: id, history: answer, body: ["from": "a peer"])]
        for leaf in closed {
            guard let parent = tree.parent(of: leaf.revision), let path = tree.history(of: parent) else { continue }
            revisions.append(
                ReplicatedRevision(
                    id: id,
                    history: try RevisionHistory(start: path.start + 1, signatures: [signature()] + path.signatures),
                    isDeleted: true, body: ["$closed": .string(name(answer.revision))]))
        }
        guard revisions.count > 1 else { return }
        try insert(revisions)
        for revision in revisions {
            Journal.note(revision.isDeleted ? "D" : "R", id.string, name(revision.history.revision))
        }
    }

    private func insert(_ revisions: [ReplicatedRevision]) throws {
        for outcome in try database.insertReplicated(revisions) {
            guard case .stored = outcome else { return Journal.note("! a replicated revision was not stored") }
        }
    }

    /// Settles the conflict of one document, if it has one: notes the plan before, and the success after.
    mutating func settle(_ id: DocumentID) throws {
        let policy = policy()
        guard let preview = try database.preview(id, using: policy) else { return }
        let plan = plan(of: preview)
        if !plan.isEmpty { Journal.note("z", id.string, plan) }
        let settlement = try database.settle(id, using: policy)
        guard settlement.written == preview.plan.writes.map(\.revision) else {
            return Journal.note("! \(id) was settled otherwise than foreseen, by \(policy)")
        }
        if !plan.isEmpty { Journal.note("Z", id.string, plan) }
    }

    /// Settles all conflicts, of all threads.
    mutating func settleAll() throws {
        let policy = policy()
        var plans: [(DocumentID, String)] = []
        for kind in policy.kinds {
            for id in try database.conflictedDocumentIDs(kind) {
                guard let preview = try database.preview(id, using: policy) else { continue }
                let plan = plan(of: preview)
                if !plan.isEmpty { plans.append((id, plan)) }
            }
        }
        for (id, plan) in plans { Journal.note("z", id.string, plan) }
        let report = try database.settleAll(using: policy)
        guard report.failed == 0, report.settled == plans.count else {
            return Journal.note(
                "! \(report.settled) of \(plans.count) were settled and \(report.failed) failed, by \(policy)")
        }
        for (id, plan) in plans { Journal.note("Z", id.string, plan) }
    }

    /// The revisions that a settlement writes, for the journal: `+` before a live revision, `-` before a tombstone.
    private func plan(of preview: SettlementPreview) -> String {
        preview.plan.writes.map { ($0.isDeleted ? "-" : "+") + name($0.revision) }.joined(separator: " ")
    }

    private mutating func signature() -> RevisionSignature {
        RevisionSignature(high: random.next(), low: random.next())
    }

    /// An attachment for one branch in three, sometimes one that is stored in a file.
    private mutating func attachment() throws -> (DocumentAttachment, AttachmentContent)? {
        guard Int.random(in: 0..<3, using: &random) == 0 else { return nil }
        let isLarge = Int.random(in: 0..<8, using: &random) == 0
        let content = AttachmentContent(
            seed: random.next(), length: Int.random(in: isLarge ? 65_537...200_000 : 1...5000, using: &random))
        return (try database.makeAttachment("photo", content: content.bytes), content)
    }

    private func line(
        _ revision: RevisionID?, of id: DocumentID, _ attachment: (DocumentAttachment, AttachmentContent)?
    ) -> [String] {
        guard let (attachment, content) = attachment else { return ["S", id.string, name(revision)] }
        return ["A", id.string, name(revision), attachment.name, "\(content.seed)", "\(content.length)"]
    }

    private func name(_ revision: RevisionID?) -> String { revision?.description ?? "" }
}
