import Settle
import Testing

@testable import SettleCommands

struct OneWayTransferTests {
    @discardableResult
    private func bring(_ source: Database, to target: Database) throws -> TransferCounts {
        let transfer = OneWayTransfer(from: source, to: target) { id, revision, error in
            Issue.record("\(id) \(revision) was refused: \(error)")
        }
        try transfer.run { _ in }
        return transfer.counts
    }

    private func bringBases(_ source: Database, to target: Database) throws -> TransferCounts {
        let transfer = OneWayTransfer(from: source, to: target) { id, revision, error in
            Issue.record("\(id) \(revision) was refused: \(error)")
        }
        try transfer.bringBases()
        return transfer.counts
    }

    private func leaves(_ database: Database) throws -> [DocumentID: [Document]] {
        Dictionary(uniqueKeysWithValues: try database.changes().map { ($0.id, try database.leaves(of: $0.id)) })
    }

    @Test(arguments: 1...15)
    func `two databases that exchanged all are equal, and have nothing more to say`(seed: Int) throws {
        let first = try RandomDatabase.make(seed: UInt64(seed))
        let second = try RandomDatabase.make(seed: UInt64(seed + 1000))
        let sent = try bring(first, to: second)
        let received = try bring(second, to: first)
        #expect(sent.revisions > 0 && received.revisions > 0)
        let all = try leaves(first)
        #expect(try leaves(second) == all)
        for (id, leaves) in all {
            let trees = try [first, second].map { try #require(try $0.tree(of: id)) }
            #expect(trees[0].winner?.revision == trees[1].winner?.revision)
            for leaf in leaves {
                for attachment in leaf.attachments {
                    #expect(try first.content(of: attachment) == second.content(of: attachment))
                }
            }
        }
        #expect(try bring(first, to: second).revisions == 0)
        #expect(try bring(second, to: first).bytes == 0)
        for database in [first, second] { #expect(try database.verify().problems == []) }
    }

    @Test(arguments: 1...7, [ConflictPolicy.threeWayMerge(), .mostRevisions, .threeWayMerge(onClash: .union)])
    func `settled by both at once, they have nothing to say to each other`(seed: Int, policy: ConflictPolicy) throws {
        let first = try RandomDatabase.make(seed: UInt64(seed))
        let second = try RandomDatabase.make(seed: UInt64(seed + 1000))
        try bring(first, to: second)
        try bring(second, to: first)
        _ = try bringBases(first, to: second)
        _ = try bringBases(second, to: first)
        #expect(try bringBases(first, to: second).revisions == 0)
        let settled = try first.settleAll(using: policy)
        let other = try second.settleAll(using: policy)
        #expect(settled.failed == 0 && other.failed == 0 && settled.settled == other.settled)
        #expect(try leaves(first) == leaves(second))
        for database in [first, second] {
            #expect(try database.verify().problems == [])
            #expect(try database.info().conflicts == settled.left)
        }
    }

    @Test func `a base that only one side has kept is brought once there is a conflict`() throws {
        let (first, second, third) = (try Database.inMemory(), try Database.inMemory(), try Database.inMemory())
        let base = try first.save(Document(id: "d", body: ["a": 1, "b": 1]), onConflict: .fail)
        try bring(first, to: third)
        var edit = base
        edit["a"] = 2
        try first.save(edit, onConflict: .fail)
        var other = try #require(try third.document("d"))
        other["b"] = 2
        try third.save(other, onConflict: .fail)
        // The second one never saw the base itself.
        try bring(third, to: second)
        try bring(first, to: second)
        try bring(second, to: first)
        #expect(try second.conflict(of: "d")?.base == nil)
        #expect(try bringBases(second, to: first).revisions == 0)
        #expect(try bringBases(first, to: second).revisions == 1)
        #expect(try bringBases(first, to: second).revisions == 0)
        for database in [first, second] { try database.settle("d", using: .threeWayMerge()) }
        #expect(try second.document("d")?.json == ["a": 2, "b": 2])
        #expect(try leaves(first) == leaves(second))
    }

    @Test func `a deletion is told from what closes a branch`() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        let base = try first.save(Document(id: "d", body: ["v": 1]), onConflict: .fail)
        try bring(first, to: second)
        try first.delete(base, onConflict: .fail)
        var edit = try #require(try second.document("d"))
        for value in 2...3 {
            edit["v"] = .number(JSONNumber(value))
            edit = try second.save(edit, onConflict: .fail)
        }
        try bring(first, to: second)
        try bring(second, to: first)
        for database in [first, second] {
            #expect(try database.conflictedDocumentIDs(.deletion) == ["d"])
            try database.settle("d", using: .deletesWin)
        }
        #expect(try leaves(first) == leaves(second))
        #expect(try bring(first, to: second).revisions == 0)
        #expect(try first.document("d") == nil)
    }

    @Test func `a content that many documents have is copied once in a batch`() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        let content = [UInt8](repeating: 7, count: 100_000)
        for number in 0..<10 {
            var document = Document(id: try DocumentID(validating: "d\(number)"))
            document.attach(try first.makeAttachment("file \(number)", content: content))
            try first.save(document, onConflict: .fail)
        }
        let counts = try bring(first, to: second)
        #expect(counts.revisions == 10 && counts.attachments == 1)
        #expect(try second.content(of: #require(second.document("d7")?.attachment("file 7"))) == content)
    }

    @Test func `what the target refuses is reported and the rest goes on`() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        for name in ["a", "b", "c"] { try first.save(Document(id: DocumentID(validating: name)), onConflict: .fail) }
        second.addValidation("no b") { context in
            if context.newRevision.id == "b" { throw ValidationError(message: "no b here") }
        }
        var refused: [DocumentID] = []
        let transfer = OneWayTransfer(from: first, to: second) { id, _, _ in refused.append(id) }
        try transfer.run { _ in }
        #expect(refused == ["b"] && transfer.counts.refused == 1 && transfer.counts.revisions == 2)
        #expect(transfer.counts.documents == 3)
    }
}
