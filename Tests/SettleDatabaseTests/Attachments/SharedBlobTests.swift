import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Large contents in a store that several nodes share.
@Suite struct SharedBlobTests {
    private let store: SharedStore
    private let one: SharedNode
    private let two: SharedNode
    private let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    init() throws {
        store = try SharedStore()
        one = try store.node()
        two = try store.node()
    }

    private var uploads: Int { store.contents.count }

    @discardableResult
    private func save(_ id: DocumentID, _ attachment: DocumentAttachment, on database: Database) throws -> Document {
        try database.save(Document(id: id, attachments: [attachment]), onConflict: .fail)
    }

    @Test func `the double keeps the contract of an engine`() {
        #expect(StorageEngineSuite.run(readsWait: true) { try SharedStore().engine(longestID: 100) } == [])
    }

    @Test func `a large content is written under a name of its own, and read by all nodes, also in ranges`() throws {
        try save("small", one.database.makeAttachment("x", content: [1, 2, 3]), on: one.database)
        #expect(uploads == 0)
        let saved = try save("a", one.database.makeAttachment("x", content: content), on: one.database)
        #expect(uploads == 1)
        let row = try store.engine.read { try $0.blob(saved.attachments[0].blob) }
        #expect(row?.isFile == true && row?.content == nil)
        let read = try #require(try two.database.document("a")?.attachments.first)
        #expect(try two.database.content(of: read) == content)
        for range: Range<Int64> in [0..<1, 99_999..<200_001, 299_999..<400_000, 300_000..<300_001] {
            let part = try two.database.attachmentReader(for: read, range: range).readAll()
            let clamped = range.clamped(to: 0..<300_000)
            #expect(part == Array(content[Int(clamped.lowerBound)..<Int(clamped.upperBound)]))
        }
        #expect(try two.database.info().attachmentFilesSize == 300_000)
        #expect(try two.database.problems() == [])
    }

    @Test func `a content that two nodes write is stored once, and the other upload is collected`() throws {
        var pending: DocumentAttachment? = try one.database.makeAttachment("x", content: content)
        try save("b", two.database.makeAttachment("x", content: content), on: two.database)
        try save("a", #require(pending), on: one.database)
        #expect(uploads == 2)
        #expect(try two.database.compact().blobs == 0)
        #expect(uploads == 2)
        pending = nil
        #expect(try two.database.compact().blobs == 0)
        #expect(uploads == 1)
        let read = try #require(try one.database.document("a")?.attachments.first)
        #expect(try one.database.content(of: read) == content)
        #expect(try one.database.problems() == [])
    }

    @Test func `an upload that no document names yet is kept from the compaction of another node`() throws {
        var pending: DocumentAttachment? = try one.database.makeAttachment("x", content: content)
        try two.database.compact()
        #expect(try one.database.content(of: #require(pending)) == content)
        let saved = try save("a", #require(pending), on: one.database)
        try two.database.compact()
        #expect(try two.database.content(of: saved.attachments[0]) == content)
        try two.database.purge("a")
        pending = nil
        #expect(try two.database.compact().blobs == 1)
        #expect(uploads == 0)
    }

    @Test func `a pending attachment that is released lets its upload go`() throws {
        do { _ = try one.database.makeAttachment("x", content: content) }
        try two.database.compact()
        #expect(uploads == 0)
    }

    @Test func `a writer that is released unfinished leaves nothing`() throws {
        do {
            let writer = try one.database.attachmentWriter(contentType: "image/png")
            try writer.write(content)
            #expect(uploads == 1)
        }
        #expect(uploads == 0)
    }

    @Test func `a crash between upload and commit leaves an orphan, which a compaction collects`() throws {
        let before = try save("kept", one.database.makeAttachment("x", content: [9] + content), on: one.database)
        let lost = try one.database.makeAttachment("x", content: content)
        let writer = try one.database.attachmentWriter(contentType: "image/png")
        try writer.write(content)
        store.contents.kill(one.name)
        #expect(uploads == 3)
        #expect(try two.database.info().blobs == 1)
        #expect(try two.database.problems() == [])
        #expect(try two.database.compact().blobs == 0)
        #expect(uploads == 1)
        #expect(try two.database.content(of: before.attachments[0]) == [9] + content)
        // The process was asleep and not killed.
        #expect(code { try save("a", lost, on: one.database) } == .attachmentMissing)
        #expect(try two.database.document("a") == nil)
        #expect(try two.database.problems() == [])
        withExtendedLifetime(writer) {}
    }

    @Test func `a document can't name a content that another node has collected`() throws {
        let saved = try save("a", one.database.makeAttachment("x", content: content), on: one.database)
        try two.database.purge("a")
        try two.database.compact()
        #expect(code { try save("b", saved.attachments[0], on: one.database) } == .attachmentMissing)
        let peers = try one.database.insertReplicated([peer("c", try path("1-a"), attachments: saved.attachments)])
        #expect(peers.map(\.word) == ["attachment_missing"])
        #expect(try one.database.problems() == [])
    }

    @Test func `an attachment that is pending in another database is refused, even if that content is pending here`()
        throws
    {
        let elsewhere = try SharedStore().node().database
        let (mine, other) = (
            try one.database.makeAttachment("x", content: content),
            try elsewhere.makeAttachment("x", content: content)
        )
        #expect(code { try save("a", other, on: one.database) } == .attachmentMissing)
        #expect(code { try one.database.content(of: other) } == .attachmentMissing)
        try save("a", mine, on: one.database)
        try save("b", other, on: one.database)
        #expect(try one.database.problems() == [])
    }

    @Test func `a download begins again where unfinished contents are not kept`() throws {
        let attachment = try one.database.makeAttachment("x", content: content)
        for _ in 0..<2 {
            let writer = try one.database.attachmentWriter(
                resuming: attachment.digest, length: 300_000, encoding: .identity)
            #expect(writer.storedLength == 0)
            try writer.write(Array(content.prefix(200_000)))
        }
        #expect(uploads == 1)
        withExtendedLifetime(attachment) {}
    }

    @Test(.timeLimit(.minutes(5))) func `nodes that add, remove and collect the same content lose nothing`() throws {
        let (store, content) = (store, content)
        let failures = Log<String>()
        onThreads(4) { thread in
            do {
                let database = try store.node().database
                for round in 0..<30 {
                    if thread == 0 {
                        try database.compact()
                        continue
                    }
                    let id = try DocumentID(validating: "\(thread).\(round)")
                    let attachment = try database.makeAttachment("x", content: content)
                    let saved = try database.save(Document(id: id, attachments: [attachment]), onConflict: .fail)
                    if try database.content(of: saved.attachments[0]) != content { failures.add("differs") }
                    try database.purge(id)
                }
            } catch { failures.add("\(error)") }
        }
        #expect(failures.values == [])
        try one.database.compact()
        #expect(uploads == 0)
        #expect(try one.database.problems() == [])
    }
}
