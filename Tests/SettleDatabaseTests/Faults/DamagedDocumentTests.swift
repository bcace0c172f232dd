import Foundation
import PostgresTesting
import Settle
import SettleCore
import SettleTesting
import Testing

@testable import SettleDatabase

/// One damaged document among intact ones, in a file.
@Suite struct DamagedDocumentTests {
    private static let damages = [
        "attachments = CAST(replace(CAST(attachments AS TEXT), ',3,', ',-3,') AS BLOB)", "attachments = 'no'",
        "attachments = '[[1]]'", "tree = x'FF'", "tree = zeroblob(0)",
    ]
    private let folder: TemporaryFolder
    private let warnings = Log<String>()

    init() throws {
        folder = try TemporaryFolder()
        let database = try Database.create(folder.path("a"))
        defer { database.close() }
        for id in ["a", "bad", "c"] as [DocumentID] {
            var document = Document(id: id, body: ["n": 1])
            document.attach(try database.makeAttachment("small", content: [1, 2, 3]))
            document.attach(
                try database.makeAttachment(
                    "large", content: Array(repeating: UInt8(id.string.utf8.count), count: 100_000)))
            document = try database.save(document, onConflict: .fail)
            document["n"] = 2
            try database.save(document, onConflict: .fail)
        }
    }

    private func open(_ damage: String) throws -> Database {
        try RawFile(path: folder.path("a/database.sqlite")).execute(
            "UPDATE documents SET \(damage) WHERE id = x'626164'")
        var options = DatabaseOptions()
        let warnings = warnings
        options.warn = { warnings.add($0) }
        return try Database.open(folder.path("a"), options: options)
    }

    @Test(arguments: damages)
    func `reading a damaged document throws an error that names it`(damage: String) throws {
        let database = try open(damage)
        do {
            _ = try database.document("bad")
            Issue.record("it was read")
        } catch let error as DatabaseError {
            #expect(error.message.contains("\"bad\""), "\(error)")
        }
    }

    @Test(arguments: damages)
    func `reading all documents skips a damaged one, and warns once`(damage: String) throws {
        let database = try open(damage)
        for _ in 0..<3 {
            #expect(try database.documents().map(\.id) == ["a", "c"])
            let ids = try database.changes(includingDocuments: true).filter { $0.document != nil }.map(\.id)
            #expect(ids == ["a", "c"])
        }
        #expect(warnings.values.filter { $0.contains("\"bad\"") }.count == 1, "\(warnings.values)")
    }

    @Test(arguments: damages)
    func `verification names a damaged document and continues`(damage: String) throws {
        let database = try open(damage)
        let report = try database.verify()
        #expect(report.problems.contains { $0.hasPrefix("bad: ") }, "\(report.problems)")
        #expect(report.documents == 3)
    }

    @Test(arguments: damages)
    func `compaction skips a damaged document, and keeps the contents of its attachments`(damage: String) throws {
        let database = try open(damage)
        let result = try database.compact()
        #expect(result.contents >= 2)
        let files = try #require(FileManager.default.enumerator(atPath: folder.path("a/attachments")))
        #expect(files.compactMap { $0 as? String }.filter { $0.utf8.count > 60 }.count == 2)
        #expect(warnings.values.contains { $0.contains("\"bad\"") })
    }

    @Test(arguments: damages)
    func `a damaged document can be purged`(damage: String) throws {
        let database = try open(damage)
        try database.purge("bad")
        #expect(try database.document("bad") == nil)
        try database.save(Document(id: "bad"), onConflict: .fail)
        try database.compact()
        #expect(try database.documents().map(\.id) == ["a", "bad", "c"])
        #expect(try database.verify().problems == [])
    }

    @Test(arguments: damages.prefix(3))
    func `a damaged document can be deleted and created again`(damage: String) throws {
        let database = try open(damage)
        try database.delete("bad")
        #expect(try database.document("bad") == nil)
        try database.save(Document(id: "bad", body: ["n": 3]), onConflict: .lastWriteWins)
        #expect(try database.document("bad")?["n"] == 3)
        #expect(try database.verify().problems == [])
    }

    @Test(arguments: damages)
    func `a batch with a damaged document stores the others`(damage: String) throws {
        let database = try open(damage)
        let history = try RevisionHistory(start: 1, signatures: [#require(RevisionSignature("ab"))])
        let outcomes = try database.insertReplicated(
            ["a", "bad", "d"].map { ReplicatedRevision(id: $0, history: history) })
        for index in [0, 2] {
            guard case .stored = outcomes[index] else {
                Issue.record("\(outcomes)")
                return
            }
        }
        #expect(
            try database.revisionsDiff([
                ("a", [history.revision]), ("bad", [history.revision]), ("x", [history.revision]),
            ]).contains { $0.id == "x" })
    }

    @Test func `a conflict with a lost content stays, and the other documents are settled and compacted`() throws {
        let made = try Database.create(folder.path("b"))
        for id in ["lost", "whole"] as [DocumentID] {
            try made.insertReplicated([
                peer(id, try path("1-c"), ["n": 1]), peer(id, try path("1-a"), ["n": 2]),
                peer(id, try path("2-d", "a"), ["n": 3]), peer(id, try path("3-e", "d", "a"), ["n": 4]),
            ])
        }
        made.close()
        // Its first content kept apart is that of 1-a, its second that of the leaf 1-c.
        try RawFile(path: folder.path("b/database.sqlite")).execute("DELETE FROM contents WHERE number = 2")
        var options = DatabaseOptions()
        let warnings = warnings
        options.warn = { warnings.add($0) }
        let database = try Database.open(folder.path("b"), options: options)
        #expect(try database.problems().contains { $0 == "lost 1-c: its content is missing" })
        let report = try database.settleAll(using: .mostRevisions)
        #expect(report.settled == 1 && report.failures.map(\.documentID) == ["lost"])
        #expect(report.failures.first?.error.code == .damagedDocument)
        let result = try database.compact()
        #expect(result.contents >= 2)
        #expect(warnings.values.contains { $0.contains("\"lost\"") })
        #expect(try database.conflictedDocumentIDs() == ["lost"])
    }

    @Test func `storage refuses a number that could not be read back`() throws {
        let database = try Database.plain()
        let good = try database.makeAttachment("f", content: [1])
        let bad = [
            DocumentAttachment(
                name: "f", contentType: "x", revpos: 0, digest: good.digest, length: -1, encodedLength: 1,
                encoding: .identity, blob: good.blob, pending: good.pending),
            DocumentAttachment(
                name: "f", contentType: "x", revpos: 0, digest: good.digest, length: 1, encodedLength: -1,
                encoding: .identity, blob: good.blob, pending: good.pending),
            DocumentAttachment(
                name: "f", contentType: "x", revpos: .max, digest: good.digest, length: 1, encodedLength: 1,
                encoding: .identity, blob: good.blob, pending: good.pending),
        ]
        for attachment in bad {
            let history = try RevisionHistory(start: 1, signatures: [#require(RevisionSignature("ab"))])
            let outcome = try database.insertReplicated([
                ReplicatedRevision(id: "a", history: history, attachments: [attachment])
            ])
            guard case .refused(let error) = outcome[0] else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(error.code == .invalid && error.message.contains("\"f\""), "\(error)")
        }
        #expect(throws: DatabaseError.self) {
            try database.save(Document(id: "b", attachments: [bad[0]]), onConflict: .fail)
        }
    }
}
