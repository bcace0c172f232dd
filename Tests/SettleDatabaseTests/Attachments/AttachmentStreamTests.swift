import Foundation
import Settle
import SettleTesting
import Testing

@Suite struct AttachmentStreamTests {
    @Test(arguments: ["application/octet-stream"])
    func `300 MB stream in and out in bounded memory`(type: String) throws {
        try withTemporaryDatabase(.file) { database in
            let piece = [UInt8](repeating: 0x5A, count: 1 << 20)
            let before = try residentKilobytes()
            var most = before
            let writer = try database.attachmentWriter(contentType: type)
            for number in 0..<300 {
                try writer.write(piece)
                if number % 50 == 0 { most = max(most, try residentKilobytes()) }
            }
            let attachment = try writer.finish(name: "big")
            let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
            let reader = try database.attachmentReader(for: saved.attachments[0])
            var length = 0
            var pieces = 0
            while let piece = try reader.read() {
                length += piece.count
                pieces += 1
                if pieces % 1000 == 0 { most = max(most, try residentKilobytes()) }
            }
            #expect(length == 300 << 20)
            #expect(saved.attachments[0].length == 300 << 20)
            // Other tests run in this process at the same time, so the bound is loose; it is still a third of the content.
            #expect(most - before < 100_000)
        }
    }

    /// The memory of this process, by the system.
    private func residentKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }

    @Test func `a large content in memory is read in reasonable time`() throws {
        try withTemporaryDatabase(.memory) { database in
            let attachment = try database.makeAttachment("x", content: [UInt8](repeating: 3, count: 32 << 20))
            let start = ContinuousClock.now
            let reader = try database.attachmentReader(for: attachment)
            var length = 0
            while let piece = try reader.read() { length += piece.count }
            #expect(length == 32 << 20)
            #expect(ContinuousClock.now - start < .seconds(2))
        }
    }

    @Test func `a file is taken in pieces`() throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder("in")))
        try withTemporaryDatabase(.file) { database in
            let attachment = try database.makeAttachment("x", contentType: "text/plain", file: folder("in"))
            let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
            #expect(try database.content(of: saved.attachments[0]) == bytes)
            #expect(code { try database.makeAttachment("x", file: folder("none")) } == .inputOutput)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: DatabaseKind.allCases)
    func `content that comes compressed is kept as it comes`(kind: DatabaseKind) throws {
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

    @Test(arguments: DatabaseKind.allCases)
    func `damaged compressed content is an error`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for bytes: [UInt8] in [[1, 2, 3, 4], [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF]] {
                let writer = try database.attachmentWriter(contentType: "text/plain", encoding: .gzip)
                try writer.write(bytes)
                let attachment = try writer.finish(name: "x")
                #expect(code { try database.content(of: attachment) } == .attachmentMissing)
            }
        }
    }

    @Test func `a writer that is let go of leaves no file`() throws {
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

    @Test(arguments: DatabaseKind.allCases, [10, 100_000])
    func `a writer that was finished takes nothing more`(kind: DatabaseKind, size: Int) throws {
        try withTemporaryDatabase(kind) { database in
            let writer = try database.attachmentWriter(contentType: "image/png")
            try writer.write([UInt8](repeating: 1, count: size))
            _ = try writer.finish(name: "x")
            #expect(code { try writer.write([1]) } == .invalid)
            #expect(code { try writer.finish(name: "x") } == .invalid)
        }
    }
}
