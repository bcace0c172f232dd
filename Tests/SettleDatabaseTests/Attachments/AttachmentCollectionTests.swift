import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct AttachmentCollectionTests {
    private let content = [UInt8](repeating: 5, count: 100_000)

    @Test(arguments: Kinds.all)
    func `content that no kept revision references is collected`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for size in [10, 100_000] {
                var document = Document(id: size == 10 ? "small" : "large")
                document.attach(try database.makeAttachment("x", content: Array(content.prefix(size))))
                document = try database.save(document, onConflict: .fail)
                document.detach("x")
                try database.save(document, onConflict: .fail)
            }
            #expect(try database.info().blobs == 2)
            let result = try database.compact()
            #expect(result.blobs == 2)
            #expect(result.contents == 2)
            #expect(try database.info().blobs == 0)
            #expect(try database.info().attachmentFilesSize == 0)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `content not saved yet is pinned, and collected once it is released`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var pending: DocumentAttachment? = try database.makeAttachment("x", content: content)
            try database.compact()
            if let pending { #expect(try database.content(of: pending) == content) }
            let saved = try database.save(
                Document(id: "a", attachments: [try #require(pending)]), onConflict: .fail)
            pending = nil
            try database.compact()
            #expect(try database.content(of: saved.attachments[0]) == content)
            _ = try database.makeAttachment("y", content: [9] + content)
            try database.compact()
            #expect(try database.info().attachmentFilesSize == (kind == .memory ? 0 : 100_000))
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 60, 90
    @Test(arguments: Kinds.all)
    func `content that a conflicting leaf references is kept`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let attachment = try database.makeAttachment("x", content: content)
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), attachments: [attachment]), peer("a", try path("3-c", "z", "a")),
            ])
            try database.compact()
            let leaf = try #require(try database.leaves(of: "a").last)
            #expect(try database.content(of: leaf.attachments[0]) == content)
            try database.purge("a", revisions: [try #require(leaf.revision)])
            #expect(try database.info().blobs == 1)
        }
    }

    @Test func `files that no row names are collected`() throws {
        let temporary = try TemporaryDatabase(.file)
        let folder = try #require(temporary.database.path) + "/attachments"
        _ = try temporary.database.makeAttachment("x", content: content)
        try FileManager.default.createDirectory(atPath: folder + "/new", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/new/99"))
        try temporary.reopen()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new") == [])
        try temporary.database.compact()
        #expect(try temporary.database.info().attachmentFilesSize == 0)
    }

    @Test(.timeLimit(.minutes(5)), arguments: Kinds.all)
    func `collecting while the same content is added and removed loses nothing`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database throws in
            let content = content
            let failures = Log<String>()
            onThreads(4) { thread in
                do {
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
            #expect(try database.problems() == [])
        }
    }
}
