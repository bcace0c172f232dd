import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// A database and a naive model perform the same random steps and are compared after each.
@Suite struct DatabaseModelTests {
    @Test(arguments: Kinds.all)
    func `a database agrees with a naive model`(kind: DatabaseKind) throws {
        for round in 0..<3 {
            let run = ModelRun(seed: SeededRandom.seed &+ UInt64(round), try TemporaryDatabase(kind))
            do { try run.go(steps: 160) } catch { Issue.record("\(run.story): \(error)") }
        }
    }
}

/// One sequence of random steps.
private final class ModelRun {
    private let seed: UInt64
    private let temporary: TemporaryDatabase
    private var model = ModelDatabase()
    private var random: SeededRandom
    private var step = 0
    private var doing = ""
    private let ids: [DocumentID] = ["a", "b", "c", "d", "é"]

    init(seed: UInt64, _ temporary: TemporaryDatabase) {
        self.seed = seed
        self.temporary = temporary
        random = SeededRandom(seed: seed)
    }

    var story: Comment { "SETTLE_SEED=\(seed), step \(step): \(doing)" }
    private var database: Database { temporary.database }
    private func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    private func body() throws -> DocumentBody { try DocumentBody(["v": .number(JSONNumber(number(5)))]) }

    func go(steps: Int) throws {
        while step < steps {
            step += 1
            try act(on: ids[number(ids.count)], number(20))
            for id in ids { try compare(id) }
            try compareAll()
        }
        #expect(try database.problems() == [], story)
    }

    private func act(on id: DocumentID, _ choice: Int) throws {
        switch choice {
        case 0..<6: try save(id)
        case 6..<8: try delete(id)
        case 8..<13: try replicate(id)
        case 13: try purge(id)
        case 14: try note("compact") { try database.compact() }
        case 15: try note("reopen") { try temporary.reopen() }
        case 16..<18: try save(id, attaching: true)
        default: try rollBack(id)
        }
    }

    private func note<Result>(_ text: String, _ body: () throws -> Result) rethrows {
        doing = text
        _ = try body()
    }

    private func save(_ id: DocumentID, attaching: Bool = false) throws {
        // Any live leaf may be edited; without one the document is new or revived.
        let live = model.liveLeaves(id)
        let parent = live.isEmpty ? model.leaves(id).first : live[number(live.count)]
        doing = "save \(id) on \(parent?.description ?? "-")"
        var document = Document(id: id)
        if let parent, !live.isEmpty { document = try #require(try database.document(id, revision: parent), story) }
        let content = try body()
        document.setBody(content)
        var attachments = live.isEmpty ? [:] : parent.flatMap { model.trees[id]?[$0]?.attachments } ?? [:]
        if attaching {
            let bytes = [UInt8](repeating: UInt8(number(3)), count: [3, 70_000][number(2)])
            document.attach(try database.makeAttachment("x\(number(2))", content: bytes))
            attachments[document.attachments[0].name] = bytes
        }
        let revision = try #require(try database.save(document, onConflict: .fail).revision, story)
        let deletions = live.isEmpty ? model.openDeletions(id).filter { $0 != parent } : []
        model.put(
            revision, .init(parent: parent, isDeleted: false, body: content, attachments: attachments), in: id)
        // A write that revives a document closes its other deletions.
        let closing = try DocumentBody(["$closed": .string(revision.description)])
        let tree = try #require(try database.tree(of: id), story)
        for deletion in deletions {
            let tombstone = try #require(tree.leaves.first { tree.parent(of: $0.revision) == deletion }, story)
            model.put(tombstone.revision, .init(parent: deletion, isDeleted: true, body: closing), in: id)
        }
    }

    private func delete(_ id: DocumentID) throws {
        let live = model.liveLeaves(id)
        guard !live.isEmpty else { return }
        let leaf = live[number(live.count)]
        doing = "delete \(id) \(leaf)"
        let document = try #require(try database.document(id, revision: leaf), story)
        let revision = try #require(try database.delete(document, onConflict: .fail)?.revision, story)
        model.put(revision, .init(parent: leaf, isDeleted: true, body: .empty), in: id)
    }

    private func replicate(_ id: DocumentID) throws {
        let known = (model.trees[id] ?? [:]).keys.sorted()
        let parent = known.isEmpty || number(6) == 0 ? nil : known[number(known.count)]
        let history = parent.map { model.path($0, in: id) } ?? []
        let generation = (parent?.generation ?? 0) + 1
        // A signature depends on the parent, like a hash: one revision has one parent.
        let trail = (parent?.description ?? "").utf8.reduce(UInt32(7)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let revision = try RevisionID(validating: "\(generation)-\(["a", "b", "c", "ff"][number(4)])\(trail)")
        doing = "replicate \(id) \(revision) on \(parent?.description ?? "-")"
        let isDeleted = number(5) == 0
        let content = try body()
        let isKept = try database.document(id, revision: revision) != nil
        let outcome = try database.insertReplicated([
            peer(
                id, try RevisionHistory(start: generation, signatures: [revision.signature] + history.map(\.signature)),
                content, isDeleted: isDeleted)
        ])
        let isKnown = model.trees[id]?[revision] != nil
        // A revision whose content compaction removed gets it back.
        #expect(outcome.map(\.word) == [isKnown && isKept ? "known" : "stored"], story)
        if isKnown, !isKept { model.touch(id) }
        if !isKnown { model.put(revision, .init(parent: parent, isDeleted: isDeleted, body: content), in: id) }
    }

    private func purge(_ id: DocumentID) throws {
        let leaves = model.leaves(id)
        guard !leaves.isEmpty else { return }
        let leaf = leaves[number(leaves.count)]
        doing = "purge \(id) \(leaf)"
        #expect(try database.purge(id, revisions: [leaf]) == [leaf], story)
        model.purge(leaf, in: id)
    }

    private func rollBack(_ id: DocumentID) throws {
        doing = "roll back \(id)"
        let kept = model
        do {
            try database.transaction {
                try save(id, attaching: true)
                try delete(id)
                try replicate(id)
                throw Nonsense()
            }
        } catch is Nonsense {}
        doing = "roll back \(id)"
        model = kept
    }

    private func compare(_ id: DocumentID) throws {
        let expected = model.leaves(id)
        let leaves = try database.leaves(of: id)
        #expect(leaves.map(\.revision) == expected, story)
        for leaf in leaves {
            let content = leaf.revision.flatMap { model.trees[id]?[$0] }
            #expect(try leaf.body() == content?.body, story)
            #expect(leaf.isDeleted == content?.isDeleted, story)
            let attachments = try leaf.attachments.map { ($0.name, try database.content(of: $0)) }
            #expect(Dictionary(uniqueKeysWithValues: attachments) == content?.attachments, story)
        }
        #expect(try database.document(id)?.revision == model.liveLeaves(id).first, story)
        #expect(Set(try database.tree(of: id)?.revisions ?? []) == Set((model.trees[id] ?? [:]).keys), story)
    }

    private func compareAll() throws {
        let conflicted = ids.filter { model.liveLeaves($0).count > 1 }.sorted()
        #expect(try database.conflictedDocumentIDs() == conflicted, story)
        #expect(try database.changes().map(\.id) == model.order, story)
        let live = ids.count { !model.liveLeaves($0).isEmpty }
        #expect(
            try database.info().documents == DocumentCounts(live: live, deleted: model.trees.count - live), story)
        let changed = Int64(number(Int(try database.lastSequence().number) + 1))
        let range = SequenceRange(after: UpdateSequence(changed))
        let recounted = try database.records(changedIn: range, limit: .max, withContent: false).count
        #expect(try database.count(changedIn: range) == recounted, story)
        let start = ids[number(ids.count)]
        let after = ids.filter { $0 >= start && !model.liveLeaves($0).isEmpty }.sorted()
        #expect(try database.countLive(in: DocumentRange(from: start)) == after.count, story)
        #expect(try database.liveID(at: 1, in: DocumentRange(from: start)) == after.dropFirst().first, story)
    }
}
