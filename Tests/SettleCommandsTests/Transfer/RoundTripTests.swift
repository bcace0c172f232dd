import Settle
import SettleImport
import SettleDatabase
import SettlePlatform
import Testing

@testable import SettleCommands

struct RoundTripTests {
    @Test(arguments: 1...20)
    func `an export imports to an equal database, which exports the same`(seed: Int) throws {
        let source = try RandomDatabase.make(seed: UInt64(seed))
        let options = Exporter.Options(includesLocal: true)
        let text = try Transfer.export(source, options)
        let copy = try Database.inMemory()
        let (counts, failures) = try Transfer.load(text, into: copy, RecordImporter.Options(batch: 1 + seed % 5))
        #expect(failures == [] && counts.failed == 0)
        #expect(try Transfer.export(copy, options) == text)
        for change in try source.changes() {
            #expect(try paths(of: change.id, in: copy) == paths(of: change.id, in: source))
            #expect(try copy.leaves(of: change.id) == source.leaves(of: change.id))
            #expect(try copy.tree(of: change.id)?.winner?.revision == change.winner)
        }
        #expect(try copy.verify().problems == [])
        // Importing again changes nothing.
        let again = try Transfer.load(text, into: copy)
        #expect(again.counts.stored == again.counts.total - again.counts.known)
        #expect(try Transfer.export(copy, options) == text)
    }

    private func paths(of id: DocumentID, in database: Database) throws -> [RevisionHistory?] {
        let tree = try #require(try database.tree(of: id))
        return tree.leaves.map { tree.history(of: $0.revision) }
    }

    @Test func `large contents are exported in pieces and small ones inline`() throws {
        let source = try Database.inMemory()
        let large = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        var document = Document(id: "a", body: ["v": 1])
        document.attach(try source.makeAttachment("large", content: large))
        document.attach(try source.makeAttachment("again", contentType: "image/png", content: large))
        document.attach(try source.makeAttachment("small", contentType: "text/plain", content: [97, 98]))
        document = try source.save(document, onConflict: .fail)
        let text = try Transfer.export(source)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("{\"$blob\":") && $0.utf8.count < 1_100_000 })
        let copy = try Database.inMemory()
        #expect(try Transfer.load(text, into: copy).failures == [])
        #expect(try copy.document("a") == document)
        #expect(try copy.content(of: #require(copy.document("a")?.attachment("large"))) == large)
        #expect(try Transfer.export(copy) == text)
        #expect(try copy.verify().problems == [])
    }

    @Test func `stored gzip keeps its bytes and is verified`() throws {
        let source = try Database.inMemory()
        let packed = try source.makeAttachment("t", contentType: "text/plain", content: Array("hello".utf8))
        let stored = try source.attachmentReader(for: packed, encoded: true).readAll()
        let data = Base64.encode(stored)
        func line(_ data: String) -> String {
            #"{"_id":"a","_rev":"1-a","_attachments":{"t":{"content_type":"x/y","revpos":1,"encoding":"gzip","data":""#
                + data + "\"}}}"
        }
        let copy = try Database.inMemory()
        #expect(try Transfer.load(line(data), into: copy).failures == [])
        let attachment = try #require(try copy.document("a")?.attachments.first)
        #expect(attachment.encoding == .gzip && attachment.length == 5 && attachment.digest == packed.digest)
        #expect(try copy.content(of: attachment) == Array("hello".utf8))
        #expect(try Transfer.load(line("AQIDBA=="), into: Database.inMemory()).failures.count == 1)
    }

    @Test func `tombstones and conflicts can be left out`() throws {
        let source = try RandomDatabase.make(seed: 99)
        let all = try source.changes()
        let options = Exporter.Options(includesDeleted: false, includesConflicts: false)
        let lines = try Transfer.export(source, options).split(separator: "\n").filter { !$0.hasPrefix("{\"$blob") }
        #expect(lines.count == all.count { !$0.isDeleted })
        #expect(!lines.contains { $0.contains("\"_deleted\":true") })
    }
}
