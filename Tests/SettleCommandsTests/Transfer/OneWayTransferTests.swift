import Settle
import Testing

@testable import SettleCommands

struct OneWayTransferTests {
    private func bring(_ source: Database, to target: Database) throws -> TransferCounts {
        let transfer = OneWayTransfer(from: source, to: target) { id, revision, error in
            Issue.record("\(id) \(revision) was refused: \(error)")
        }
        try transfer.run { _ in }
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

    @Test func `a deletion is told from what closes a branch`() throws {
        let (first, second) = (try Database.inMemory(), try Database.inMemory())
        let base = try first.save(Document(id: "d", body: ["v": 1]), onConflict: .fail)
        _ = try bring(first, to: second)
        try first.delete(base, onConflict: .fail)
        var edit = try #require(try second.document("d"))
        for value in 2...3 {
            edit["v"] = .number(JSONNumber(value))
            edit = try second.save(edit, onConflict: .fail)
        }
        _ = try bring(first, to: second)
        _ = try bring(second, to: first)
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
