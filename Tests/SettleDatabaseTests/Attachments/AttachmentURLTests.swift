import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Attachments from `Data` and from files, and to files.
@Suite struct AttachmentURLTests {
    private let folder: TemporaryFolder
    private let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 % 251) }

    init() throws { folder = try TemporaryFolder() }

    private func url(_ name: String) -> URL { URL(fileURLWithPath: folder(name)) }

    /// The names of the files in the folder.
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder("")).sorted() }
    }

    @Test(arguments: Kinds.all)
    func `a file is attached and written in pieces, with progress`(kind: DatabaseKind) throws {
        try Data(bytes).write(to: url("in"))
        try withTemporaryDatabase(kind) { database in
            var read: [Int64] = []
            let attachment = try database.makeAttachment("x", contentType: "video/mp4", file: url("in")) {
                read.append($0)
                #expect($1 == 700_000)
            }
            #expect(read.count > 1 && read.last == 700_000 && read == read.sorted())
            let saved = try database.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
            #expect(try database.content(of: saved.attachments[0]) == bytes)
            var written: [Int64] = []
            try Data([1]).write(to: url("out"))
            try database.write(saved.attachments[0], to: url("out")) {
                written.append($0)
                #expect($1 == 700_000)
            }
            #expect(written.count > 1 && written.last == 700_000 && written == written.sorted())
            #expect([UInt8](try Data(contentsOf: url("out"))) == bytes)
            #expect(try names == ["in", "out"])
            #expect(try database.problems() == [])
        }
    }

    @Test func `content is given as data, as bytes and piece by piece, and is the same`() throws {
        let database = try Database.inMemory()
        let data = Data(bytes)
        let attachments = [
            try database.makeAttachment("x", content: data), try database.makeAttachment("x", content: bytes),
            try database.makeAttachment("x", content: data.dropFirst(0)),
            try {
                let writer = try database.attachmentWriter(contentType: "application/octet-stream")
                try writer.write(data.prefix(1000))
                try writer.write(Array(bytes[1000...]))
                return try writer.finish(name: "x")
            }(),
        ]
        #expect(Set(attachments.map(\.digest)).count == 1)
        try database.write(database.makeAttachment("empty", content: Data()), to: url("empty"))
        #expect(try Data(contentsOf: url("empty")).isEmpty)
    }

    @Test func `a file whose name has the maximum length is written and replaced`() throws {
        let database = try Database.inMemory()
        let attachment = try database.makeAttachment("x", content: bytes)
        // Each of these characters has three bytes.
        let name = String(repeating: "\u{5199}", count: 83) + "12.jpg"
        for _ in 0..<2 { try database.write(attachment, to: url(name)) }
        #expect([UInt8](try Data(contentsOf: url(name))) == bytes)
        #expect(try names == [name])
    }

    @Test func `what can't be read or written is an error that names it, and leaves nothing`() throws {
        let database = try Database.inMemory()
        let attachment = try database.makeAttachment("x", content: bytes)
        try Data([1]).write(to: url("kept"))
        try FileManager.default.createDirectory(at: url("folder"), withIntermediateDirectories: false)
        let web = try #require(URL(string: "https://example.com/photo.jpg"))
        let calls: [(DatabaseErrorCode, String, () throws -> Any)] = [
            (.notFound, folder("none"), { try database.makeAttachment("x", file: url("none")) }),
            (.invalid, folder("folder"), { try database.makeAttachment("x", file: url("folder")) }),
            (.invalid, "https://example.com/photo.jpg", { try database.makeAttachment("x", file: web) }),
            (.invalid, "_x", { try database.makeAttachment("_x", file: url("kept")) }),
            (.notFound, folder("none"), { try database.write(attachment, to: url("none/out")) }),
            (.invalid, folder("folder"), { try database.write(attachment, to: url("folder")) }),
            (.invalid, "https://example.com/photo.jpg", { try database.write(attachment, to: web) }),
            (.notFound, folder("kept"), { try database.write(attachment, to: url("kept/out")) }),
        ]
        for (wanted, words, call) in calls {
            let error = #expect(throws: DatabaseError.self) { _ = try call() }
            #expect(error?.code == wanted, "\(words)")
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        #expect(try names == ["folder", "kept"])
    }

    @Test func `a closure for progress ends the work by an error, and a file that was there stays as it was`() throws {
        struct Enough: Error {}
        let database = try Database.inMemory()
        try Data(bytes).write(to: url("in"))
        #expect(throws: Enough.self) { try database.makeAttachment("x", file: url("in")) { _, _ in throw Enough() } }
        let attachment = try database.makeAttachment("x", content: bytes)
        try Data([1, 2]).write(to: url("out"))
        #expect(throws: Enough.self) {
            try database.write(attachment, to: url("out")) { done, _ in if done > 100_000 { throw Enough() } }
        }
        #expect([UInt8](try Data(contentsOf: url("out"))) == [1, 2])
        #expect(try names == ["in", "out"])
    }

    @Test func `a disk without room is an error with that code, and nothing is left`() throws {
        // A device that is always full. Nothing can be renamed over it, so the write fails before.
        let full = URL(fileURLWithPath: "/dev/full")
        guard FileManager.default.fileExists(atPath: full.path) else { return }
        let target = try FileHandleWriter(path: full.path)
        #expect(code { try bytes.withUnsafeBytes { try target.write($0) } } == .diskFull)
    }
}
