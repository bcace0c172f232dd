import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseAttachmentTests {
    @Test(arguments: Kinds.all)
    func `an attachment keeps its name, type, digest and lengths`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        var document = Document(id: "a")
        document.attach(
            try temporary.database.makeAttachment("hi.bin", contentType: "Image/PNG", content: Array("hello".utf8)))
        let saved = try temporary.database.save(document, onConflict: .fail)
        try temporary.reopen()
        let attachment = try #require(try temporary.database.document("a")?.attachment("hi.bin"))
        #expect(attachment == saved.attachments.first)
        #expect(attachment.contentType == "Image/PNG")
        #expect(attachment.digest.description == "md5-XUFAKrxLKna5cZ2REBfFkg==")
        #expect(attachment.length == 5)
        #expect(attachment.encodedLength == 5)
        #expect(attachment.encoding == .identity)
        #expect(attachment.revpos == 1)
        #expect(try temporary.database.content(of: attachment) == Array("hello".utf8))
        #expect(try temporary.database.problems() == [])
    }

    // SEMANTICS 198
    @Test(arguments: Kinds.all)
    func `a stub keeps its revpos and new content gets one`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var document = Document(id: "a")
            document.attach(try database.makeAttachment("one", content: [1]))
            document = try database.save(document, onConflict: .fail)
            document["v"] = 2
            document.attach(try database.makeAttachment("two", content: [2]))
            document = try database.save(document, onConflict: .fail)
            #expect(document.attachments.map(\.name) == ["two", "one"])
            #expect(document.attachments.map(\.revpos) == [2, 1])
            document.attach(try database.makeAttachment("one", content: [1, 1]))
            document = try database.save(document, onConflict: .fail)
            #expect(document.attachments.map(\.name) == ["one", "two"])
            #expect(document.attachments.map(\.revpos) == [3, 2])
            document.attach(try database.makeAttachment("one", content: [1, 1]))
            document = try database.save(document, onConflict: .fail)
            #expect(document.attachment("one")?.revpos == 3)
            let detached = [document.detach("two"), document.detach("two")]
            #expect(detached == [true, false])
            document = try database.save(document, onConflict: .fail)
            #expect(document.attachments.map(\.name) == ["one"])
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all, [3, 300_000])
    func `equal content is stored once`(kind: DatabaseKind, size: Int) throws {
        try withTemporaryDatabase(kind) { database in
            let content = [UInt8](repeating: 7, count: size)
            for id: DocumentID in ["a", "b"] {
                let attachments = try ["x", "y"].map { try database.makeAttachment($0, content: content) }
                try database.save(Document(id: id, attachments: attachments), onConflict: .fail)
            }
            let info = try database.info()
            #expect(info.blobs == 1)
            #expect(info.attachmentFilesSize == (kind != .memory && size > 65_536 ? Int64(size) : 0))
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `text is stored as gzip and read as it was given`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let text = Array(String(repeating: "settle ", count: 40_000).utf8)
            let types = ["text/plain", "TEXT/HTML; charset=utf-8", "application/json", "application/xml", "image/png"]
            let attachments = try types.map { try database.makeAttachment($0, contentType: $0, content: text) }
            #expect(attachments.map(\.encoding) == [.gzip, .gzip, .gzip, .gzip, .identity])
            let saved = try database.save(Document(id: "a", attachments: attachments), onConflict: .fail)
            for attachment in saved.attachments {
                #expect(attachment.length == 280_000)
                #expect(try database.content(of: attachment) == text)
            }
            let first = saved.attachments[0]
            #expect(first.encodedLength < 5000)
            let encoded = try database.attachmentReader(for: first, encoded: true).readAll()
            #expect(encoded.prefix(2) == [0x1F, 0x8B])
            #expect(Int64(encoded.count) == first.encodedLength)
            #expect(try database.info().blobs == 2)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all, [1000, 200_000])
    func `a range is clamped, and refused for compressed content`(kind: DatabaseKind, size: Int) throws {
        try withTemporaryDatabase(kind) { database in
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let attachment = try database.makeAttachment("x", content: bytes)
            let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
            let stored = saved.attachments[0]
            for range: Range<Int64> in [0..<1, 5..<900, 990..<999_999, 5..<5, 9_999_999..<99_999_999, -5..<3] {
                let part = try database.attachmentReader(for: stored, range: range).readAll()
                let clamped = range.clamped(to: 0..<Int64(size))
                #expect(part == Array(bytes[Int(clamped.lowerBound)..<Int(clamped.upperBound)]))
            }
            let text = try database.makeAttachment("t", contentType: "text/plain", content: bytes)
            #expect(code { try database.attachmentReader(for: text, range: 0..<1) } == .invalid)
            #expect(code { try database.attachmentReader(for: text, encoded: true, range: 0..<1) } == nil)
        }
    }

    @Test(arguments: Kinds.all)
    func `illegal names are refused`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            #expect(code { try database.makeAttachment("_x", content: []) } == .invalid)
            let twice = try [1, 2].map { try database.makeAttachment("x", content: [$0]) }
            #expect(code { try database.save(Document(id: "a", attachments: twice), onConflict: .fail) } == .invalid)
            let empty = try database.makeAttachment("empty", content: [])
            let saved = try database.save(Document(id: "a", attachments: [empty]), onConflict: .fail)
            #expect(try database.content(of: saved.attachments[0]) == [])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 24
    @Test(arguments: Kinds.all, [10, 100_000])
    func `an attachment of another database is refused`(kind: DatabaseKind, size: Int) throws {
        try withTemporaryDatabase(kind) { here in
            try withTemporaryDatabase(kind) { there in
                let content = [UInt8](repeating: 9, count: size)
                let pending = try there.makeAttachment("x", content: content)
                let save = { (attachment: DocumentAttachment) in
                    code { try here.save(Document(id: "a", attachments: [attachment]), onConflict: .fail) }
                }
                #expect(save(pending) == .attachmentMissing)
                let stored = try there.save(Document(id: "a", attachments: [pending]), onConflict: .fail)
                #expect(save(stored.attachments[0]) == .attachmentMissing)
                let outcome = try here.insertReplicated([peer("a", try path("1-a"), attachments: stored.attachments)])
                #expect(outcome.map(\.word) == ["attachment_missing"])
                #expect(try here.document("a") == nil)
                #expect(try here.info().blobs == 0)
                #expect(code { try here.content(of: stored.attachments[0]) } == .attachmentMissing)
            }
        }
    }

    @Test(arguments: Kinds.all)
    func `a peer's attachment keeps the peer's revpos`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var attachment = try database.makeAttachment("x", content: [1])
            let first = try database.insertReplicated([peer("a", try path("4-d", "c"), attachments: [attachment])])
            #expect(first.map(\.word) == ["stored"])
            #expect(try database.document("a")?.attachments.map(\.revpos) == [4])
            attachment = try #require(try database.document("a")?.attachments.first)
            try database.insertReplicated([peer("a", try path("9-e", "d"), attachments: [attachment])])
            #expect(try database.document("a")?.attachments.map(\.revpos) == [4])
        }
    }

    @Test func `an attachment whose file is missing is reported as missing`() throws {
        try withTemporaryDatabase(.file) { database in
            let attachment = try database.makeAttachment("x", content: [UInt8](repeating: 1, count: 100_000))
            let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
            let folder = try #require(database.path) + "/attachments"
            let path = "\(folder)/\(attachment.blob.description.prefix(2))/\(attachment.blob)"
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 100_000)
            truncate(path, 70_000)
            #expect(code { try database.content(of: saved.attachments[0]) } == .attachmentMissing)
            try FileManager.default.removeItem(atPath: path)
            #expect(code { try database.content(of: saved.attachments[0]) } == .attachmentMissing)
            #expect(try database.document("a") == saved)
        }
    }
}
