import PostgresTesting
import Settle
import Testing

struct AttachmentDescriptionTests {
    @Test func `bytes stored as they came can be declared as gzip`() throws {
        let database = try Database.plain()
        let compressed = try database.makeAttachment("a", contentType: "text/plain", content: Array("hello".utf8))
        let bytes = try database.attachmentReader(for: compressed, encoded: true).readAll()
        let writer = try database.attachmentWriter(contentType: "", encoding: .identity)
        try writer.write(bytes)
        let plain = try writer.finish(name: "content")
        let told = try database.expanded(plain).described(as: "b", contentType: "text/plain", revpos: 3, length: 5)
        #expect(told.digest == compressed.digest && told.blob == compressed.blob)
        #expect(try database.content(of: told) == Array("hello".utf8))
        var document = Document(id: "d")
        document.attach(told)
        document = try database.save(document, onConflict: .fail)
        #expect(document.attachments[0].name == "b" && document.attachments[0].length == 5)
        #expect(try database.verify().problems == [])
    }

    @Test func `an attachment name with an underscore in front is refused, and the empty one is not`() throws {
        let attachment = try Database.plain().makeAttachment("a", content: [1])
        #expect(throws: DatabaseError.self) { try attachment.described(as: "_x", contentType: "", revpos: 0) }
        #expect(try attachment.described(as: "", contentType: "", revpos: 0).name.isEmpty)
    }

    @Test func `a wrong length is refused, and so are bytes declared as gzip that are not`() throws {
        let database = try Database.plain()
        let attachment = try database.makeAttachment("a", content: [1])
        for length in [-1, 0, 2] as [Int64] {
            #expect(throws: DatabaseError.self) {
                try attachment.described(as: "a", contentType: "", revpos: 0, length: length)
            }
        }
        #expect(throws: DatabaseError.self) { try database.expanded(attachment) }
    }
}
