import PostgresTesting
import Settle
import SettleCore
import SettleDatabase
import Testing

@testable import CrashTool

/// The crash test itself can fail: it detects the faults that it is meant to detect.
@Suite struct CrashCheckerTests {
    let database: Database

    init() throws { database = try Database.plain() }

    private func problems(_ journal: String) throws -> [String] {
        var ledger = Ledger()
        ledger.read(journal)
        var checker = Checker(database)
        try checker.check(&ledger)
        return checker.problems
    }

    @Test(arguments: [
        "S d-0-1 1-a\n", "R d-0-1 1-a\n", "G g-0-0 3 1\n", "L _local/l-0 1\n", "! it broke\n", "nonsense\n",
        "P d-0-1\nS d-0-1 1-a\n", "p d-0-1\nP d-0-1\nS d-0-1 1-a\nS d-0-1 2-a\n",
    ])
    func `acknowledged writes missing from an empty database are found`(journal: String) throws {
        #expect(try !problems(journal).isEmpty)
    }

    @Test(arguments: [
        "", "C\n", "ready\n", "P d-0-1\n", "S d-0-1 1-a\np d-0-1\n", "S d-0-1 1-a\np d-0-1\nP d-0-1\n", "S d-0-1 1-",
    ])
    func `an empty database without acknowledged writes is sound`(journal: String) throws {
        #expect(try problems(journal) == [])
    }

    @Test func `a missing, changed or purged revision is found`() throws {
        let saved = try database.save(Document(id: "d-0-1"), onConflict: .fail)
        let revision = try #require(saved.revision)
        #expect(try problems("S d-0-1 \(revision)\n") == [])
        #expect(try problems("S d-0-1 \(revision)\np d-0-1\n") == [])
        #expect(try problems("S d-0-1 2-a\n").count == 1)
        #expect(try problems("D d-0-1 \(revision)\n").count == 1)
        #expect(try problems("S d-0-1 \(revision)\np d-0-1\nP d-0-1\n").count == 1)
    }

    @Test func `a group written in part, or with older stamps, is found`() throws {
        for index in 0..<2 {
            try database.save(
                Document(id: DocumentID(validating: "g-0-0-\(index)"), body: ["stamp": 1]), onConflict: .fail)
        }
        #expect(try problems("").count == 1)
        try database.save(Document(id: "g-0-0-2", body: ["stamp": 2]), onConflict: .fail)
        #expect(try problems("").count == 1)
        for index in 0..<3 {
            try database.save(
                Document(id: DocumentID(validating: "g-0-0-\(index)"), body: ["stamp": 3]), onConflict: .lastWriteWins)
        }
        #expect(try problems("G g-0-0 3 3\n") == [])
        #expect(try problems("G g-0-0 3 4\n").count == 1)
    }

    @Test func `an undone operation that is still there is found`() throws {
        try database.save(Document(id: "ghost-0"), onConflict: .fail)
        #expect(try problems("").count == 1)
    }

    @Test func `a changed content is found`() throws {
        var document = Document(id: "d-0-1")
        document.attach(
            try database.makeAttachment("photo", content: AttachmentContent(seed: 5, length: 100).bytes))
        let saved = try database.save(document, onConflict: .fail)
        let revision = try #require(saved.revision)
        #expect(try problems("A d-0-1 \(revision) photo 5 100\n") == [])
        #expect(try problems("A d-0-1 \(revision) photo 6 100\n").count == 1)
        #expect(try problems("A d-0-1 \(revision) letter 5 100\n").count == 1)
    }

    /// A conflict of three leaves and what settling it by three-way merge would write.
    private func parted(_ id: DocumentID) throws -> SettlementPreview {
        var here = try database.save(Document(id: id, body: ["n": 0]), onConflict: .fail)
        let base = try #require(here.revision)
        here["here"] = 1
        try database.save(here, onConflict: .fail)
        for signature in ["a", "b"] {
            let history = try RevisionHistory(
                start: 2, signatures: [try #require(RevisionSignature(signature)), base.signature])
            try database.insertReplicated([ReplicatedRevision(id: id, history: history, body: ["n": 0, "there": 1])])
        }
        return try #require(try database.preview(id, using: .threeWayMerge()))
    }

    /// The words of the journal for a settlement.
    private func line(_ kind: String, _ preview: SettlementPreview) -> String {
        let plan = preview.plan.writes.map { "\($0.isDeleted ? "-" : "+")\($0.revision)" }
        return "\(kind) \(preview.conflict.documentID) \(plan.joined(separator: " "))\n"
    }

    /// Writes a part of a settlement, which a killed process must never leave.
    private func write(_ writes: [SettlementPlan.Write], of preview: SettlementPreview) throws {
        for write in writes {
            let path = try #require(preview.conflict.tree.history(of: write.parent))
            let history = try RevisionHistory(
                start: path.start + 1, signatures: [write.revision.signature] + path.signatures)
            try database.insertReplicated([
                ReplicatedRevision(
                    id: preview.conflict.documentID, history: history, isDeleted: write.isDeleted, body: write.body)
            ])
        }
    }

    // SEMANTICS 72
    @Test func `an interrupted settlement is there whole or not at all`() throws {
        let preview = try parted("d-0-1")
        #expect(preview.plan.writes.map(\.isDeleted) == [false, true, true])
        #expect(try problems(line("z", preview)) == [])
        try database.settle("d-0-1", using: .threeWayMerge())
        #expect(try problems(line("z", preview)) == [])
        #expect(try problems(line("z", preview) + line("Z", preview)) == [])
        #expect(try problems(line("Z", preview)).count == 1)
    }

    @Test(arguments: [[0], [1], [2], [0, 1], [0, 2], [1, 2]])
    func `a resolution that was written in part is found`(part: [Int]) throws {
        let preview = try parted("d-0-1")
        try write(part.map { preview.plan.writes[$0] }, of: preview)
        let found = try problems(line("z", preview))
        #expect(found.contains { $0.contains("settled by half") && $0.contains("(missing)") }, "\(found)")
        #expect(found.contains { $0.contains("which is not there") } == !part.contains(0), "\(found)")
    }

    @Test(arguments: [[0, 1], [0, 2], [1], [2]])
    func `a branch closed beside two live ones is found without any plan`(part: [Int]) throws {
        let preview = try parted("c-0-1")
        #expect(try problems("") == [])
        try write(part.map { preview.plan.writes[$0] }, of: preview)
        #expect(try problems("").contains { $0.contains("1 branches closed, 2 live") })
        try write(preview.plan.writes, of: preview)
        #expect(try problems("") == [])
    }

    @Test func `a missing acknowledged settlement is found`() throws {
        let preview = try parted("d-0-1")
        #expect(try problems(line("z", preview) + line("Z", preview)).count == 3)
    }

    @Test func `a tombstone whose survivor is missing is found`() throws {
        try database.save(Document(id: "d-0-1"), onConflict: .fail)
        let signature = try #require(RevisionSignature("a"))
        let history = try RevisionHistory(start: 1, signatures: [signature])
        let closing = ReplicatedRevision(id: "d-0-1", history: history, isDeleted: true, body: ["$closed": "7-b"])
        try database.insertReplicated([closing])
        #expect(try problems("").count == 1)
    }

    @Test(arguments: [true, false])
    func `a conflict that was left can be settled again`(everything: Bool) throws {
        _ = try parted("c-0-1")
        _ = try parted("c-0-2")
        var checker = Checker(database)
        try checker.settleAgain(everything: everything)
        #expect(checker.problems == [])
        #expect(try database.conflictedDocumentIDs() == [])
        #expect(try problems("") == [])
    }
}
