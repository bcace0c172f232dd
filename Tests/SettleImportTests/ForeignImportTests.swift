import Foundation
import Settle
import SettleCore
import SettleCrypto
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

/// Databases of other products become databases here, with all their revisions.
struct ForeignImportTests {
    private let reader = ListReader()
    private let database: Database

    init() throws {
        database = try Database.inMemory()
        let text = Array("a picture of oats".utf8)
        var conflict = ForeignDocument(
            id: "c", sequence: 2,
            leaves: [
                try ListReader.leaf("c", "1-a", "2-b", body: ["v": 1]),
                try ListReader.leaf("c", "1-a", "2-c", body: ["v": 2]),
            ])
        conflict.bases = [try ListReader.leaf("c", "1-a", body: ["v": 0])]
        conflict.shown = try RevisionID(validating: "2-b")
        var expiring = ForeignDocument(id: "e", sequence: 4, leaves: [try ListReader.leaf("e", "1-e", body: ["x": 1])])
        expiring.expiration = Date(timeIntervalSince1970: 4_000_000_000)
        expiring.faults = [
            ForeignFault(revision: try RevisionID(validating: "3-ab"), message: "the body is not in the file")
        ]
        reader.documents = [
            ForeignDocument(
                id: "a", sequence: 1,
                leaves: [
                    try ListReader.leaf(
                        "a", "1-a", "2-a", body: ["name": "oats"],
                        attachments: [
                            ListReader.attachment("oats.txt", text), ListReader.attachment("empty", []),
                            ListReader.attachment("gone", [1], place: .missing("the blob is missing")),
                            ListReader.attachment("other", [1, 2, 3], digest: .md5(Array(repeating: 7, count: 16))),
                        ])
                ]),
            conflict,
            ForeignDocument(id: "d", sequence: 3, leaves: [try ListReader.leaf("d", "1-d", "2-d", isDeleted: true)]),
            expiring,
        ]
        reader.locals = [("_local/mine", ["cursor": 17])]
    }

    @Test func `documents come with histories, conflicts, tombstones, attachments and expirations`() throws {
        let report = try database.importAll(from: reader.database)
        #expect(report.documents == 4 && report.leaves == 5 && report.conflicts == 1 && report.tombstones == 1)
        #expect(report.attachments == 2 && report.attachmentBytes == 17 && report.localDocuments == 1)
        #expect(report.expirations == 1 && report.otherWinnerIDs == ["c"] && report.leftOut == ["2 views"])
        #expect(try database.tree(of: "a")?.revisions.map(\.description) == ["1-a", "2-a"])
        #expect(try database.leaves(of: "c").count == 2)
        #expect(try database.conflict(of: "c")?.base?["v"]?.int == 0)
        #expect(try database.tree(of: "d")?.isDeleted == true)
        let files = try #require(try database.document("a")).attachments
        #expect(files.map(\.name) == ["oats.txt", "empty"])
        #expect(try database.content(of: files[0]) == Array("a picture of oats".utf8))
        #expect(try database.expiration(of: "e") == Date(timeIntervalSince1970: 4_000_000_000))
        #expect(try database.localDocuments().map(\.id) == ["_local/mine"])
    }

    @Test func `lengths that a file claims are added up without overflow`() throws {
        let vast = ["x", "y"].map { name in
            ForeignAttachment(
                name: name, contentType: "text/plain", length: .max, revpos: 1, digest: nil, place: .bytes([]))
        }
        reader.documents = [
            ForeignDocument(id: "a", sequence: 1, leaves: [try ListReader.leaf("a", "1-a", attachments: vast)])
        ]
        let report = try reader.database.inspect(ImportOptions(), verifies: false, scratch: database) { _ in }
        #expect(report.attachments == 2 && report.attachmentBytes == .max)
    }

    @Test func `what is not taken is reported with its cause`() throws {
        let report = try database.importAll(from: reader.database)
        #expect(!report.isWhole && report.lostRevisions == 1 && report.lostAttachments == 2)
        #expect(report.notTaken.map(\.attachment) == ["gone", "other", nil])
        #expect(report.description.contains("a 2-a \"gone\": the blob is missing"), "\(report)")
        #expect(report.description.contains("a 2-a \"other\": the content has another digest than the file says"))
        #expect(report.description.contains("e 3-ab: the body is not in the file"))
        #expect(report.json["not_taken"]?.array?.count == 3 && report.json["product"] == "List 1.0")
        #expect(throws: ForeignFileError.self) {
            try database.importAll(from: reader.database, options: ImportOptions(isStrict: true))
        }
    }

    @Test func `an attachment whose name can't be one here is not taken, and its document is`() throws {
        let content = Array("oats".utf8)
        let leaf = try ListReader.leaf(
            "n", "1-a", body: ["v": 1],
            attachments: [ListReader.attachment("_own", content), ListReader.attachment("own", content)])
        reader.documents = [ForeignDocument(id: "n", sequence: 1, leaves: [leaf])]
        let report = try database.importAll(from: reader.database)
        #expect(report.lostAttachments == 1 && report.notTaken.map(\.attachment) == ["_own"])
        #expect(try #require(try database.document("n")).attachments.map(\.name) == ["own"])
    }

    @Test func `a content that is said to be gzip and is not is not taken, and its document is`() throws {
        var attachment = ListReader.attachment("packed", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 7])
        attachment.isGzip = true
        let leaf = try ListReader.leaf("n", "1-a", body: ["v": 1], attachments: [attachment])
        reader.documents = [ForeignDocument(id: "n", sequence: 1, leaves: [leaf])]
        let report = try database.importAll(from: reader.database)
        #expect(report.lostAttachments == 1 && report.notTaken.map(\.attachment) == ["packed"])
        #expect(try database.document("n")?["v"]?.int == 1)
    }

    @Test func `local documents that can't be read are named in the report`() throws {
        let (inspected, imported) = (ListReader(), ListReader())
        for reader in [inspected, imported] { reader.unreadableLocals = ["the local document torn"] }
        let counted = try inspected.database.inspect(ImportOptions(), verifies: false, scratch: database) { _ in }
        let report = try database.importAll(from: imported.database)
        for found in [counted, report] { #expect(found.leftOut == ["2 views", "the local document torn"]) }
    }

    @Test func `a second import changes nothing`() throws {
        try database.importAll(from: reader.database)
        let before = try database.info().lastSequence
        let report = try database.importAll(from: reader.database)
        #expect(report.known == 5 && report.leaves == 5)
        #expect(try database.info().lastSequence == before)
    }

    @Test func `an import that is interrupted goes on where it ended`() throws {
        struct Stop: Error {}
        let source = reader.database
        var seen = 0
        #expect(throws: Stop.self) {
            try database.importAll(from: source) { _ in
                seen += 1
                if seen == 2 { throw Stop() }
            }
        }
        #expect(try database.info().documents.live == 2)
        #expect(try database.localDocument("_local/settle-import") != nil)
        let report = try database.importAll(from: source)
        #expect(reader.starts == [0, 2] && report.documents == 4)
        #expect(try database.localDocument("_local/settle-import") == nil)
        #expect(try database.info().documents.live == 3)
    }

    @Test func `an import that goes on reports what was taken and lost before the interruption`() throws {
        struct Stop: Error {}
        let whole = try Database.inMemory().importAll(from: reader.database)
        let source = reader.database
        for last in 1...4 {
            let database = try Database.inMemory()
            #expect(throws: Stop.self) {
                try database.importAll(from: source) { if $0.documents == last { throw Stop() } }
            }
            var progress: [Int] = []
            let report = try database.importAll(from: source) { progress.append($0.documents) }
            #expect(!report.isWhole && report.notTaken == whole.notTaken, "\(last): \(report)")
            // An import of one document with the first sequence has no place to go on from.
            #expect(report.known == (last == 1 ? 1 : 0), "\(last): \(report)")
            #expect(progress == Array((last == 1 ? 1 : last + 1)..<5), "\(last)")
            var json = report.json
            json["known"] = whole.json["known"]
            #expect(json == whole.json, "\(last)")
        }
    }

    @Test func `a document that was passed over or half read before the interruption counts once`() throws {
        struct Stop: Error {}
        let passing = try Self.partlyPushed()
        passing.pushes = .ofEachDocument
        passing.documents[1].server = ForeignServerState(hasCurrent: true)
        let source = passing.database
        let unpushed = ImportOptions(onlyUnpushed: true)
        #expect(throws: Stop.self) {
            try database.importAll(from: source, options: unpushed) { if $0.documents == 2 { throw Stop() } }
        }
        let report = try database.importAll(from: source, options: unpushed)
        #expect(passing.starts == [0, 2] && report.documents == 3 && report.pushed == 1, "\(report)")

        let (other, torn) = (try Database.inMemory(), try Self.partlyPushed())
        let lacking = ListReader.attachment("gone", [1], place: .missing("the blob is missing"))
        torn.documents[2].leaves = [try ListReader.leaf("r", "1-a", attachments: [lacking])]
        #expect(throws: ForeignFileError.self) {
            try other.importAll(from: torn.database, options: ImportOptions(isStrict: true))
        }
        torn.documents[2].leaves = [try ListReader.leaf("r", "1-a")]
        let repaired = try other.importAll(from: torn.database, options: ImportOptions(isStrict: true))
        #expect(torn.starts == [0, 2] && repaired.documents == 3 && repaired.isWhole, "\(repaired)")
    }

    @Test func `a mark with numbers that can't be added to is not continued`() throws {
        struct Stop: Error {}
        let source = reader.database
        #expect(throws: Stop.self) {
            try database.importAll(from: source) { if $0.documents == 2 { throw Stop() } }
        }
        let id: DocumentID = "_local/settle-import"
        let mark = try #require(try database.localDocument(id)).body.json
        for number in [JSONValue.number(JSONNumber(Int.max)), .number(JSONNumber(-1)), "2"] {
            var changed = mark
            changed["report"]?["documents"] = number
            try database.saveLocalDocument(id, body: DocumentBody(changed))
            #expect(try database.importAll(from: source).documents == 4)
        }
        #expect(reader.starts == [0, 0, 0, 0])
    }

    /// Three documents, of which the product had pushed the first.
    private static func partlyPushed() throws -> ListReader {
        let reader = ListReader()
        reader.pushes = .upTo(1)
        for (index, id) in (["p", "q", "r"] as [DocumentID]).enumerated() {
            reader.documents.append(
                ForeignDocument(id: id, sequence: UInt64(index + 1), leaves: [try ListReader.leaf(id, "1-a")]))
        }
        return reader
    }

    @Test func `an import with other options than the interrupted one begins again`() throws {
        struct Stop: Error {}
        let choices = [
            ImportOptions(), ImportOptions(keepsWinners: true), ImportOptions(isStrict: true),
            ImportOptions(onlyUnpushed: true),
        ]
        for (place, first) in choices.enumerated() {
            for (other, second) in choices.enumerated() {
                let (database, reader) = (try Database.inMemory(), try Self.partlyPushed())
                let source = reader.database
                #expect(throws: Stop.self) {
                    try database.importAll(from: source, options: first) { if $0.documents == 2 { throw Stop() } }
                }
                try database.importAll(from: source, options: second)
                #expect(reader.starts == [0, place == other ? 2 : 0], "\(first), \(second)")
                let count = first.onlyUnpushed && second.onlyUnpushed ? 2 : 3
                #expect(try database.info().documents.live == count, "\(first), \(second)")
            }
        }
    }

    @Test func `an import begins again after the mark of an earlier version, which has no options`() throws {
        for options in [ImportOptions(), ImportOptions(onlyUnpushed: true)] {
            let (database, reader) = (try Database.inMemory(), try Self.partlyPushed())
            try database.saveLocalDocument(
                "_local/settle-import", body: ["source": "list-1", "collection": "_default._default", "sequence": "2"])
            try database.importAll(from: reader.database, options: options)
            #expect(reader.starts == [0], "\(options)")
        }
    }

    @Test func `documents without a sequence are all imported after an interruption among them`() throws {
        struct Stop: Error {}
        reader.documents = try ["p", "q", "r"].map { id in
            let id = DocumentID(unchecked: id)
            return ForeignDocument(id: id, sequence: 1, leaves: [try ListReader.leaf(id, "1-a")])
        }
        let source = reader.database
        #expect(throws: Stop.self) {
            try database.importAll(from: source) { if $0.documents == 2 { throw Stop() } }
        }
        #expect(try database.info().documents.live == 2)
        try database.importAll(from: source)
        #expect(try database.info().documents.live == 3)
    }

    @Test func `an interrupted import of a database without an identity begins again`() throws {
        struct Stop: Error {}
        reader.identity = nil
        let source = reader.database
        #expect(throws: Stop.self) {
            try database.importAll(from: source) { if $0.documents == 2 { throw Stop() } }
        }
        #expect(try database.info().documents.live == 2)
        let report = try database.importAll(from: source)
        #expect(reader.starts == [0, 0] && report.documents == 4 && report.known == 3, "\(report)")
    }

    @Test func `on request the side of a conflict that the app saw stays the winner`() throws {
        try database.importAll(from: reader.database, options: ImportOptions(keepsWinners: true))
        #expect(try database.document("c")?.revision?.description == "2-b")
        #expect(try database.tree(of: "c")?.leaves.count { !$0.isDeleted } == 1)
    }

    @Test func `an import ends with its task`() async throws {
        let (database, source) = (database, try #require(Self.manyDocuments()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try database.importAll(from: source())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try database.info().documents.live == 1)
    }

    private static func manyDocuments() -> (@Sendable () throws -> ForeignDatabase)? {
        {
            let reader = ListReader()
            reader.documents = try (1...2500).map { number in
                let id = DocumentID(unchecked: "d\(number)")
                return ForeignDocument(
                    id: id, sequence: UInt64(number), leaves: [try ListReader.leaf(id, "1-a", body: ["n": 1])])
            }
            return reader.database
        }
    }

    @Test func `many documents are stored in batches`() throws {
        let source = try #require(Self.manyDocuments())
        let report = try database.importAll(from: source())
        #expect(report.documents == 2500 && report.isWhole)
        #expect(try database.info().documents.live == 2500)
    }

    // MARK: Migration

    @Test func `an app's database is made of the old one, whole or not at all`() throws {
        struct Stop: Error {}
        let folder = try TemporaryFolder()
        let path = folder.path + "/notes.settle"
        let old = URL(filePath: folder.path).appending(path: "old.jsonl")
        try Data("{\"_id\":\"a\",\"_rev\":\"1-a\"}\n{\"_id\":\"b\",\"_rev\":\"1-b\"}\n".utf8).write(to: old)
        let before = try Data(contentsOf: old)
        #expect(throws: Stop.self) {
            try Database.openOrCreate(path, migratingFrom: old, review: { _ in throw Stop() })
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        var reports = 0
        let database = try Database.openOrCreate(path, migratingFrom: old) { _ in
        } review: { report in
            reports += 1
            #expect(report.documents == 2)
        }
        #expect(try database.info().documents.live == 2 && reports == 1)
        #expect(!FileManager.default.fileExists(atPath: path + ".importing"))
        #expect(try Data(contentsOf: old) == before)
        try database.save(Document(id: "new"))
        database.close()
        // The next start opens it.
        let again = try Database.openOrCreate(path, migratingFrom: old, review: { _ in reports += 1 })
        #expect(try again.info().documents.live == 3 && reports == 1)
        again.close()
    }

    @Test func `a migration of a dump without ids has no document twice after an interrupted one`() throws {
        struct Stop: Error {}
        let folder = try TemporaryFolder()
        let path = folder.path + "/notes.settle"
        let old = URL(filePath: folder.path).appending(path: "old.jsonl")
        try Data("{\"n\":1}\n{\"n\":2}\n".utf8).write(to: old)
        #expect(throws: Stop.self) {
            try Database.openOrCreate(path, migratingFrom: old, review: { _ in throw Stop() })
        }
        #expect(FileManager.default.fileExists(atPath: path + ".importing"))
        let database = try Database.openOrCreate(path, migratingFrom: old)
        defer { database.close() }
        #expect(try database.info().documents.live == 2)
    }

    @Test func `the report of a migration after an interrupted one covers the whole source`() throws {
        struct Stop: Error {}
        let made = try MadeDatabase()
        let digest = Base64.encode(SHA1.hash([7]))
        let lost = #"{"_attachments":{"photo":{"digest":"sha1-\#(digest)","length":1,"revpos":1}}}"#
        var rows = (1...3).map { MadeDatabase.document($0, "d\($0)") }
        for (index, json) in [lost, "{}", "{}"].enumerated() { rows.append(MadeDatabase.row(index + 1, "1-a", json)) }
        let old = try made.sqlite("old.cblite2/db.sqlite3", version: 102, MadeDatabase.schemaOf1 + rows)
            .deletingLastPathComponent()
        let path = made.folder.appending(path: "new.settle").path
        #expect(throws: Stop.self) {
            try Database.openOrCreate(path, migratingFrom: old, progress: { if $0.documents == 2 { throw Stop() } })
        }
        var reports: [ImportReport] = []
        let database = try Database.openOrCreate(path, migratingFrom: old, review: { reports.append($0) })
        defer { database.close() }
        let report = try #require(reports.first)
        #expect(report.documents == 3 && report.known == 2 && report.lostAttachments == 1, "\(report)")
        #expect(try !report.isWhole && database.info().documents.live == 3)
    }

    @Test func `a migration names the other collections that have documents`() throws {
        let made = try MadeDatabase()
        let rows = ["kv_default", "kv_.notes"].enumerated().map { index, table in
            MadeDatabase.row(
                "d", in: table, sequence: index + 1, version: MadeDatabase.binary("1-aa"),
                body: FleeceWriter.write(["v": 1]), extra: MadeDatabase.tree([.init(id: "1-aa")]))
        }
        let schema = MadeDatabase.schemaOf3(["kv_default", "kv_.notes", "kv_.\\Shop.\\Orders"])
        let old = try made.sqlite("old.cblite2/db.sqlite3", version: 500, schema + rows).deletingLastPathComponent()
        let path = made.folder.appending(path: "new.settle").path
        var reports: [ImportReport] = []
        let database = try Database.openOrCreate(path, migratingFrom: old, review: { reports.append($0) })
        defer { database.close() }
        #expect(reports.map(\.documents) == [1])
        #expect(reports.first?.leftOut == ["the collection _default.notes with 1 document"])
    }

    @Test func `a migration expects neither documents that were lost nor documents that expire`() throws {
        reader.documents += (10..<1200).map { number in
            var lost = ForeignDocument(id: DocumentID(unchecked: "l\(number)"), sequence: UInt64(number), leaves: [])
            lost.faults = [ForeignFault(revision: nil, message: "the body is not in the file")]
            return lost
        }
        let report = try database.importAll(from: reader.database)
        #expect(report.documents == 1194 && report.lostRevisions == 1191 && report.expirations == 1)
        #expect(try database.info().documents.live == 3 && report.explains(4))
        // The document that expires may be gone, and of another one a revision was lost.
        #expect(report.explains(2) && !report.explains(1))
    }

    @Test func `without an old database a new one is empty, and one that can't be read is an error`() throws {
        let folder = try TemporaryFolder()
        let none = URL(filePath: folder.path + "/none.cblite")
        let database = try Database.openOrCreate(folder.path + "/a", migratingFrom: none)
        #expect(try database.info().documents.live == 0)
        database.close()
        let bad = URL(filePath: folder.path + "/bad")
        try Data([0, 1, 2, 3]).write(to: bad)
        #expect(throws: ForeignFileError.self) { try Database.openOrCreate(folder.path + "/b", migratingFrom: bad) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/b"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/b.importing"))
    }

    // MARK: Places

    @Test func `a folder without anything known, and other products' dumps, are refused with advice`() throws {
        let folder = try TemporaryFolder()
        let place = URL(filePath: folder.path)
        #expect(throws: ForeignFileError.self) { try ForeignDatabase(at: place) }
        try Data("x".utf8).write(to: place.appending(path: "a.bson"))
        let error = try #require(throws: ForeignFileError.self) {
            try ForeignDatabase(at: place.appending(path: "a.bson"))
        }
        #expect(error.message.contains("mongoexport"))
        #expect(throws: ForeignFileError.self) { try ForeignDatabase(at: place.appending(path: "none")) }
    }
}
