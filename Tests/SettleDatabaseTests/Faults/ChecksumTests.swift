import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

@testable import SettleDatabase

/// Stored bytes that changed by themselves are never returned as right.
@Suite struct ChecksumTests {
    let folder: TemporaryFolder
    var file: URL { URL(filePath: folder.path("a/database.sqlite")) }

    init() throws { folder = try TemporaryFolder() }

    /// Replaces all of a text in a file by another one of the same length.
    private func replace(_ old: String, by new: String, in file: URL) throws {
        var data = try Data(contentsOf: file)
        var count = 0
        while let range = data.range(of: Data(old.utf8)) {
            data.replaceSubrange(range, with: Data(new.utf8))
            count += 1
        }
        try #require(count > 0)
        try data.write(to: file)
    }

    private func make(_ body: (Database) throws -> Void) throws {
        let database = try Database.create(folder.path("a"))
        defer { database.close() }
        try body(database)
    }

    @Test func `a changed body is found by reading, by replicating and by verifying`() throws {
        let revision = try Result {
            try make { database in
                for id in ["l", "m", "n"] as [DocumentID] {
                    try database.save(Document(id: id, body: ["pay": 1000, "to": "ann"]), onConflict: .fail)
                }
            }
            return try #require(RevisionID("1-0"))
        }.get()
        try replace(#""pay":1000"#, by: #""pay":9000"#, in: file)
        let database = try Database.open(folder.path("a"))
        #expect(try #require(throws: DatabaseError.self) { try database.document("m") }.code == .damagedDocument)
        #expect(try database.documents().isEmpty)
        var failures = 0
        let winner = try #require(try database.tree(of: "m")?.winner?.revision)
        #expect(winner != revision)
        try database.forEachRevision([("m", winner, [])]) { found in
            if case .failure = found { failures += 1 }
            return true
        }
        #expect(failures == 1)
        #expect(try database.verify().problems.count { $0.contains("checksum") } == 3)
    }

    @Test func `a changed body of a revision that does not win is found`() throws {
        try make { database in
            for text in ["one", "two"] {
                let history = try RevisionHistory(#require(RevisionID("1-\(text)")))
                try database.insertReplicated([
                    ReplicatedRevision(id: "m", history: history, isDeleted: false, body: ["text": .string(text)])
                ])
            }
        }
        try replace(#""text":"one""#, by: #""text":"six""#, in: file)
        let database = try Database.open(folder.path("a"))
        #expect(try database.document("m")?["text"] == "two")
        #expect(throws: DatabaseError.self) { try database.leaves(of: "m") }
        #expect(throws: DatabaseError.self) { try database.document("m", revision: #require(RevisionID("1-one"))) }
    }

    @Test(arguments: [1000, 200_000]) func `the end of a changed attachment is never read`(length: Int) throws {
        let text = String(repeating: "all is well. ", count: length / 13)
        try make { database in
            var document = Document(id: "m", body: [:])
            document.attach(
                try database.makeAttachment("a", contentType: "application/octet-stream", content: Array(text.utf8)))
            try database.save(document, onConflict: .fail)
        }
        let files = FileManager.default.enumerator(atPath: folder.path("a/attachments"))?.compactMap { $0 as? String }
        let stored = files?.first { $0.utf8.count > 60 }.map { URL(filePath: folder.path("a/attachments/\($0)")) }
        #expect((stored != nil) == (length > 65_536))
        try replace("well", by: "evil", in: stored ?? file)
        let database = try Database.open(folder.path("a"))
        let attachment = try #require(try database.document("m")?.attachments.first)
        let reader = try database.attachmentReader(for: attachment)
        var read = 0
        let error = #expect(throws: DatabaseError.self) { while let piece = try reader.read() { read += piece.count } }
        #expect(error?.code == .attachmentMissing)
        #expect(read < text.utf8.count)
        #expect(throws: DatabaseError.self) {
            try database.write(attachment, to: URL(filePath: folder.path("out")))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
        #expect(try database.verify().problems.contains { $0.contains("is damaged") })
    }

    @Test(arguments: 0..<24 as Range<UInt64>) func `no read returns what was not written, whatever bit changed`(
        seed: UInt64
    ) throws {
        var expected: [DocumentID: String] = [:]
        try make { database in
            for number in 0..<60 {
                let id = DocumentID(unchecked: "document-\(number)")
                var body: JSONObject = ["number": .number(JSONNumber(number)), "text": "some text to read"]
                if number % 7 == 0 { body["long"] = .string(String(repeating: "long ", count: 2000)) }
                let saved = try database.save(
                    Document(id: id, body: try DocumentBody(.object(body))), onConflict: .fail)
                expected[id] = "\(try #require(saved.revision)) \(try saved.body())"
            }
        }
        let whole = try Data(contentsOf: file)
        var random = SeededRandom(seed: seed)
        for _ in 0..<8 {
            var damaged = whole
            let bit = Int.random(in: 0..<(whole.count * 8), using: &random)
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            try damaged.write(to: file)
            defer { try? FileManager.default.removeItem(atPath: folder.path("a/database.sqlite-wal")) }
            guard let database = try? Database.open(folder.path("a")) else { continue }
            defer { database.close() }
            for (id, text) in expected {
                guard let found = try? database.document(id), let body = try? found.body() else { continue }
                let revision = try #require(found.revision)
                #expect("\(revision) \(body)" == text, "seed \(seed), bit \(bit), \(id)")
            }
            for change in (try? database.changes(includingDocuments: true)) ?? [] {
                guard let found = change.document, let body = try? found.body(), expected[change.id] != nil else {
                    continue
                }
                #expect("\(change.winner) \(body)" == expected[change.id], "seed \(seed), bit \(bit), \(change.id)")
            }
        }
    }

    @Test func `a row of an earlier format is checked by the hash of its revision`() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/format-4/example.settle")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path("a"))
        try replace(#""type":"food","price""#, by: #""type":"fool","price""#, in: file)
        let database = try Database.open(folder.path("a"))
        #expect(try #require(throws: DatabaseError.self) { try database.document("milk") }.code == .damagedDocument)
    }

    @Test func `a scrub reads all and names what is damaged`() throws {
        try make { database in
            for number in 0..<25 {
                var document = Document(
                    id: DocumentID(unchecked: "d\(number)"), body: ["n": .number(JSONNumber(number))])
                document.attach(try database.makeAttachment("a", content: Array("content \(number)".utf8)))
                try database.save(document, onConflict: .fail)
            }
        }
        try replace(#"{"n":17}"#, by: #"{"n":71}"#, in: file)
        try replace("content 3", by: "content ?", in: file)
        let database = try Database.open(folder.path("a"))
        var (place, documents, blobs, problems) = (ScrubPlace?.some(.documents(after: nil)), 0, 0, [String]())
        while let current = place {
            let step = try database.scrub(from: current, limit: 10)
            documents += step.report.documents
            blobs += step.report.blobs
            problems += step.report.problems
            place = step.next
        }
        #expect(documents == 25)
        #expect(blobs == 25)
        #expect(problems.count == 2, "\(problems)")
    }

    @Test func `a scrub is claimed until it ends, and one that was given up goes on where it was`() throws {
        let database = try Database.create(folder.path("a"))
        defer { database.close() }
        func claim(at time: Int64) throws -> ScrubTurn { try database.claimScrub(at: time, every: 1000, lease: 100) }
        #expect(try claim(at: 1_000_000) == .now(.documents(after: nil)))
        #expect(try claim(at: 1_000_099) == .later(1))
        // The clock of another node may be slightly behind.
        #expect(try claim(at: 999_950) == .later(150))
        for place in [
            ScrubPlace.documents(after: DocumentID(unchecked: "a \u{0}\u{301}é")), .documents(after: nil),
            .attachments(after: BlobDigest([UInt8](repeating: 171, count: 32))), .attachments(after: nil),
        ] {
            try database.recordScrub(place, at: 1_000_090)
            #expect(try claim(at: 1_000_189) == .later(1))
            #expect(try claim(at: 1_000_190) == .now(place))
            #expect(try claim(at: 1_000_289) == .later(1))
        }
        try database.recordScrub(nil, at: 1_000_300)
        #expect(try claim(at: 1_001_299) == .later(1))
        #expect(try claim(at: 1_001_300) == .now(.documents(after: nil)))
        // A clock that was far ahead does not keep it from scrubbing.
        #expect(try claim(at: 5) == .now(.documents(after: nil)))
    }
}
