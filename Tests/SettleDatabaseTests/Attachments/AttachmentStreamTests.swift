import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct AttachmentStreamTests {
    @Test(.timeLimit(.minutes(5))) func `reading large content in memory does not copy it for each piece`() throws {
        try withTemporaryDatabase(.plain) { database in
            // Copying it for each of its pieces would take minutes.
            let attachment = try database.makeAttachment("x", content: [UInt8](repeating: 3, count: 256 << 20))
            let reader = try database.attachmentReader(for: attachment)
            var length = 0
            while let piece = try reader.read() { length += piece.count }
            #expect(length == 256 << 20)
        }
    }

    @Test(arguments: Kinds.all)
    func `content that arrives compressed is stored compressed`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let plain = Array("hello hello hello".utf8)
            let first = try database.makeAttachment("x", contentType: "text/plain", content: plain)
            let gzip = try database.attachmentReader(for: first, encoded: true).readAll()
            let writer = try database.attachmentWriter(contentType: "text/plain", encoding: .gzip)
            try writer.write(gzip)
            let second = try writer.finish(name: "x")
            #expect(second.digest == first.digest)
            #expect(second.encoding == .gzip)
            #expect(try database.content(of: second) == plain)
        }
    }

    @Test(arguments: Kinds.all)
    func `content declared as gzip that is not gzip is refused`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for bytes: [UInt8] in [[1, 2, 3, 4], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF], []] {
                let writer = try database.attachmentWriter(contentType: "text/plain", encoding: .gzip)
                let outcome = code {
                    try writer.write(bytes)
                    return try writer.finish(name: "x")
                }
                #expect(outcome == .invalid)
            }
        }
    }

    @Test func `stored content declared as gzip by an older version that is not gzip is an error`() throws {
        try withTemporaryDatabase(.file) { database in
            for bytes: [UInt8] in [
                [1, 2, 3, 4], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF], [0x1F, 0x8B],
            ] {
                let stored = try database.makeAttachment("x", content: bytes)
                let told = DocumentAttachment(
                    name: "x", contentType: "text/plain", revpos: 1, digest: stored.digest, length: 9,
                    encodedLength: stored.encodedLength, encoding: .gzip, blob: stored.blob, pending: stored.pending)
                #expect(code { try database.content(of: told) } == .attachmentMissing)
            }
        }
    }

    @Test func `an unfinished writer leaves no file`() throws {
        try withTemporaryDatabase(.file) { database in
            let folder = try #require(database.path) + "/attachments/new"
            do {
                let writer = try database.attachmentWriter(contentType: "image/png")
                try writer.write([UInt8](repeating: 1, count: 100_000))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test(arguments: Kinds.all, [10, 100_000])
    func `a finished writer refuses more bytes`(kind: DatabaseKind, size: Int) throws {
        try withTemporaryDatabase(kind) { database in
            let writer = try database.attachmentWriter(contentType: "image/png")
            try writer.write([UInt8](repeating: 1, count: size))
            _ = try writer.finish(name: "x")
            #expect(code { try writer.write([1]) } == .invalid)
            #expect(code { try writer.finish(name: "x") } == .invalid)
        }
    }
}
