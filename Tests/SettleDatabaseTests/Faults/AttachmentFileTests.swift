import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// The files of large attachments: every file that a row names exists, and unneeded files are removed.
@Suite struct AttachmentFileTests {
    let folder: TemporaryFolder
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = try Database.create(folder.path("a"))
    }

    private func large(_ value: UInt8) throws -> DocumentAttachment {
        try database.makeAttachment("large", content: Array(repeating: value, count: 100_000))
    }

    private func files(in name: String) -> [String] {
        let found = FileManager.default.enumerator(atPath: folder.path("a/attachments/" + name))
        return found?.compactMap { $0 as? String }.filter { $0.utf8.count >= 64 || !$0.contains("/") } ?? []
    }

    @Test func `compaction leaves the file of an attachment that a transaction is about to commit`() throws {
        let isCompacted = DispatchSemaphore(value: 0)
        try database.transaction {
            try database.save(Document(id: "a", attachments: [large(1)]), onConflict: .fail)
            Thread.detachNewThread { [database] in
                _ = try? database.compact()
                isCompacted.signal()
            }
            _ = isCompacted.wait(timeout: .now() + 0.5)
        }
        isCompacted.wait()
        #expect(try database.verify().problems == [])
    }

    @Test func `compaction during writes loses no content`() throws {
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            do {
                for round in 0..<30 {
                    if index == 0 {
                        try database.compact()
                        continue
                    }
                    let id = DocumentID(unchecked: "d\(index)")
                    try database.save(
                        Document(id: id, attachments: [large(UInt8(round % 3))]), onConflict: .lastWriteWins)
                    if round % 2 == 0 { try database.purge(id) }
                }
            } catch { Issue.record(error) }
        }
        #expect(try database.verify().problems == [])
    }

    @Test func `a file that a crashed writer left is not taken for the content`() throws {
        let name = try large(9).blob.description
        let path = folder.path("a/attachments/\(name.prefix(2))/\(name)")
        // What a loss of power can leave of bytes that were not forced to the disk.
        try Data(repeating: 0, count: 100_000).write(to: URL(fileURLWithPath: path))
        try database.save(Document(id: "a", attachments: [large(9)]), onConflict: .fail)
        let stored = try #require(try database.document("a")?.attachments.first)
        #expect(try database.content(of: stored) == Array(repeating: 9, count: 100_000))
        #expect(try database.verify().problems == [])
    }

    @Test func `contents whose files get the same new folder are adopted by many threads at once`() throws {
        let blobs = try #require(database.blobs.storage as? FileBlobs)
        let failures = Log<String>()
        for first in UInt8(0)..<64 {
            let files = try (0..<4).map { _ in try blobs.newFile() }
            for file in files { try Data("x".utf8).write(to: URL(fileURLWithPath: file)) }
            onThreads(files.count) { number in
                do {
                    let digest = try #require(BlobDigest([first, UInt8(number)] + Array(repeating: 0, count: 30)))
                    try blobs.adopt(files[number], as: digest)
                } catch { failures.add("\(error)") }
            }
        }
        #expect(failures.values == [])
        #expect(files(in: "").count >= 64 * 4)
    }

    @Test func `compaction removes the file of unreferenced content`() throws {
        try database.save(Document(id: "a", attachments: [large(1)]), onConflict: .fail)
        #expect(try database.info().attachmentFilesSize == 100_000)
        try database.purge("a")
        let result = try database.compact()
        #expect(result.blobs == 1)
        #expect(try database.info().attachmentFilesSize == 0)
    }

    @Test func `an abandoned attachment leaves no file`() throws {
        do {
            let writer = try database.attachmentWriter(contentType: "image/png")
            try writer.write([UInt8](repeating: 1, count: 100_000))
            #expect(files(in: "new").count == 1)
        }
        #expect(files(in: "new").isEmpty)
        let writer = try database.attachmentWriter(contentType: "image/png")
        try writer.write([UInt8](repeating: 1, count: 100_000))
        #expect(throws: DatabaseError.self) { try writer.finish(name: "_no name") }
        _ = try writer.finish(name: "name")
        #expect(files(in: "new").isEmpty)
    }

    @Test func `a missing file is an error, and verification reports it`() throws {
        let attachment = try large(1)
        let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
        let digest = attachment.blob.description
        let path = folder.path("a/attachments/\(digest.prefix(2))/\(digest)")
        #expect(truncate(path, 10) == 0)
        var error = #expect(throws: DatabaseError.self) { try database.content(of: saved.attachments[0]) }
        #expect(error?.code == .attachmentMissing)
        try FileManager.default.removeItem(atPath: path)
        error = #expect(throws: DatabaseError.self) { try database.content(of: saved.attachments[0]) }
        #expect(error?.code == .attachmentMissing)
        #expect(try database.verify().problems.count == 1)
        // Storing the same content again repairs it.
        try database.save(Document(id: "b", attachments: [large(1)]), onConflict: .fail)
        #expect(try database.verify().problems == [])
    }
}
