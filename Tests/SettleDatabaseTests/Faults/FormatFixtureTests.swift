import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

/// A database of every released format, opened unchanged. `Scripts/make-fixture.sh` creates that of a new one.
@Suite struct FormatFixtureTests {
    let folder: TemporaryFolder
    var file: URL { URL(filePath: folder.path("example.settle/database.sqlite")) }

    init() throws {
        folder = try TemporaryFolder()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/format-1/example.settle")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path("example.settle"))
    }

    private func open() throws -> Database { try Database.open(folder.path("example.settle")) }

    @Test func `an old file opens, is sound, and can be written`() throws {
        let database = try open()
        let report = try database.verify()
        #expect(report.problems == [])
        #expect(report.documents == 13)
        #expect(report.blobs == 3)
        #expect(try database.info().conflicts == 2)
        #expect(try database.info().contested == 1)
        var milk = try #require(try database.document("milk"))
        milk["new"] = true
        try database.save(milk, onConflict: .fail)
        try database.compact()
        #expect(try database.verify().problems == [])
    }

    @Test func `its documents are unchanged`() throws {
        let database = try open()
        let milk = try #require(try database.document("milk"))
        let members =
            #"{"type":"food","price":1.0,"much":1e3,"big":123456789012345678901234567890,"bytes":[1,2,255],"name":"Milk"}"#
        #expect(try milk.body().description == members)
        #expect(milk.revision?.generation == 2)
        #expect(try database.document("käse 奶酪")?["text"]?.string == "“quoted”\u{1}")
        #expect(try database.document("_design/shop")?["language"] == "javascript")
        #expect(try database.document("bread") == nil)
        let tombstone = try #require(try database.leaves(of: "bread").first)
        #expect(tombstone.isDeleted)
        #expect(try tombstone.body().description == #"{"type":"food"}"#)
        #expect(try database.tree(of: "purged") == nil)
        #expect(try database.lastSequence() == 42)
    }

    @Test func `its trees are unchanged`() throws {
        let database = try open()
        let leaves = try database.leaves(of: "conflict")
        #expect(leaves.map(\.revision?.generation) == [2, 2, 2, 2])
        #expect(leaves.map(\.isDeleted) == [false, false, false, true])
        #expect(leaves.map { $0.revision?.description.prefix(8) } == ["2-d58bbb", "2-theirs", "2-000000", "2-gone"])
        #expect(try database.conflictedDocumentIDs() == ["conflict", "racing"])
        #expect(try database.conflictedDocumentIDs(.deletion) == ["contested"])
        let conflict = try #require(try database.tree(of: "conflict"))
        #expect(conflict.branchPoints.count == 1)
        #expect(conflict.allNodes.filter(\.isShared).count == 4)
        let stemmed = try #require(try database.tree(of: "stemmed"))
        #expect(stemmed.revisions.map(\.generation) == [8, 9, 10, 11, 12])
        #expect(try database.tree(of: "other root")?.revisions.map(\.description) == ["7-alien"])
    }

    @Test func `its conflicts are unchanged`() throws {
        let database = try open()
        let conflict = try #require(try database.conflict(of: "conflict"))
        #expect(conflict.kind == .branches)
        #expect(conflict.base?.json == ["n": 0])
        #expect(conflict.local?.json == ["n": 1])
        #expect(conflict.leaves.map(\.isDeleted) == [false, false, false, true])
        let contested = try #require(try database.conflict(of: "contested"))
        #expect(contested.kind == .deletion)
        #expect(contested.base?.json == ["n": 0, "kept": true])
        #expect(contested.deletions.map(\.revision?.description) == ["2-gone"])
        #expect(contested.remote?.isDeleted == true)
        #expect(try marks(of: "2-gone", in: "contested", database) == [.deletion, .incoming])
    }

    @Test func `its settled documents are unchanged`() throws {
        let database = try open()
        #expect(try database.conflict(of: "settled") == nil)
        let leaves = try database.leaves(of: "settled")
        let survivor = try #require(leaves.first?.revision)
        #expect(survivor.description == "3-8f5876bcc6c1a3591d53b8848cfd56b5")
        #expect(leaves.map(\.json) == [["n": 7, "kept": true, "mine": 1], ["$closed": .string(survivor.description)]])
        let closing = try #require(leaves.last?.revision)
        #expect(try marks(of: closing.description, in: "settled", database) == .closing)
        #expect(try marks(of: "3-answer", in: "racing", database) == .incoming)
        #expect(try marks(of: "3-closing", in: "racing", database) == [.closing, .incoming])
        let settlement = try database.settle("racing", using: .mostRevisions)
        #expect(settlement.racingAnswers.map(\.description) == [survivor.description, "3-answer"])
        #expect(settlement.survivor == survivor)
    }

    private func marks(of revision: String, in id: DocumentID, _ database: Database) throws -> RevisionMarks? {
        try database.tree(of: id)?.allNodes.first { $0.revision.description == revision }?.marks
    }

    @Test func `its conflicts can be settled`() throws {
        let database = try open()
        let report = try database.settleAll(using: .threeWayMerge(deletionsWin: true))
        #expect(report.settled == 3)
        #expect(report.races == 1)
        #expect(try database.document("contested") == nil)
        #expect(try database.document("racing")?.json == ["n": 7, "kept": true, "mine": 1])
        #expect(try database.verify().problems == [])
    }

    @Test func `its attachments are unchanged`() throws {
        let database = try open()
        let pictures = try #require(try database.document("pictures"))
        #expect(pictures.attachments.map(\.name) == ["letter.txt", "small.png", "large.bin"])
        #expect(pictures.attachments.map(\.length) == [1300, 1000, 70_000])
        #expect(pictures.attachments.map(\.encoding) == [.gzip, .identity, .identity])
        let letter = try database.content(of: pictures.attachments[0])
        #expect(String(decoding: letter, as: UTF8.self).hasPrefix("All is well. All is well."))
        #expect(try database.content(of: pictures.attachments[2]).count == 70_000)
        let other = try #require(try database.document("same content"))
        #expect(other.attachments.first?.digest == pictures.attachments[2].digest)
        #expect(try database.info().attachmentFilesSize == 70_000)
    }

    @Test func `its local documents, expirations and settings are unchanged`() throws {
        let database = try open()
        let checkpoint = try #require(try database.localDocument("_local/checkpoint"))
        #expect(checkpoint.revision == "0-2")
        #expect(checkpoint.body["seq"] == 2)
        #expect(try database.expiration(of: "expires") == Date(timeIntervalSince1970: 4_102_444_800))
        #expect(try database.revisionLimit() == 5)
        #expect(try database.attributesKeptOnDelete() == ["type"])
    }

    @Test func `a newer format is refused and stays unchanged`() throws {
        try RawFile(path: file.path).execute("PRAGMA user_version = 6")
        let before = try Data(contentsOf: file)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.code == .newerFormat)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(arguments: ["garbage", "", "SQLite format 3\u{0}"])
    func `a file that was replaced is refused and stays unchanged`(text: String) throws {
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect([.notADatabase, .corrupt].contains(error?.code))
        #expect(try Data(contentsOf: file) == Data(text.utf8))
    }

    @Test func `a file of another application is refused and stays unchanged`() throws {
        try RawFile(path: file.path).execute("PRAGMA application_id = 1")
        let before = try Data(contentsOf: file)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.code == .notADatabase)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(arguments: [0.2, 0.5, 0.9])
    func `a truncated file is refused and stays unchanged`(part: Double) throws {
        let whole = try Data(contentsOf: file)
        let before = whole.prefix(Int(Double(whole.count) * part))
        try before.write(to: file)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.code == .corrupt)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test func `pages overwritten with garbage are reported or throw, and never crash`() throws {
        let whole = try Data(contentsOf: file)
        for page in 1..<(whole.count / 4096) {
            var damaged = whole
            for offset in 0..<4096 { damaged[page * 4096 + offset] = UInt8(truncatingIfNeeded: offset &* 7 &+ page) }
            try damaged.write(to: file)
            guard let database = try? open() else { continue }
            let report = try? database.verify()
            #expect(report?.isSound != true, "page \(page)")
            _ = try? database.documents()
            _ = try? database.save(Document(id: "new"), onConflict: .fail)
            database.close()
        }
    }

    @Test func `a file that is truncated while it is open is an error`() throws {
        let database = try open()
        #expect(truncate(file.path, 8192) == 0)
        let report = Result { try database.verify() }
        if case .success(let report) = report { #expect(!report.isSound) }
        _ = try? database.documents()
        _ = try? database.save(Document(id: "new"), onConflict: .fail)
    }

    @Test func `a folder without write permission is an error`() throws {
        try #require(getuid() != 0 || chmod(file.path, 0o444) == 0)
        // Root may write anything, so a folder takes the place of the file.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.code == .inputOutput)
    }
}
