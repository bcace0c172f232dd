import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// A child process whose files may not grow past a limit: the system makes a write fail, in the middle.
@Suite struct FileSizeLimitTests {
    @Test func `when the log can't grow no acknowledged write is lost, and writing resumes with space`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let database = try Database.create(folder.path("a"))
            try FileSizeLimit.set(400_000)
            var acknowledged: Set<String> = []
            var refused: DatabaseErrorCode?
            for number in 0..<1000 where refused == nil {
                let text = JSONValue.string(String(repeating: "x", count: 3000))
                let id = DocumentID(unchecked: "d\(number)")
                do {
                    try database.save(Document(id: id, body: ["text": text]), onConflict: .fail)
                    acknowledged.insert(id.string)
                } catch let error as DatabaseError { refused = error.code }
            }
            try FileSizeLimit.check(
                refused == .diskFull || refused == .inputOutput, "refused: \(String(describing: refused))")
            try FileSizeLimit.check(acknowledged.count > 10, "acknowledged \(acknowledged.count)")
            try FileSizeLimit.check(Set(database.documents().map(\.id.string)) == acknowledged, "reads work at once")
            try FileSizeLimit.check(database.verify().problems == [], "sound without room")

            try FileSizeLimit.lift()
            try database.save(Document(id: "with room"), onConflict: .fail)
            acknowledged.insert("with room")
            try folder.copy("a", to: "b")
            for name in ["a", "b"] {
                let reopened = try Database.open(folder.path(name))
                try FileSizeLimit.check(Set(reopened.documents().map(\.id.string)) == acknowledged, "\(name) has all")
                try FileSizeLimit.check(reopened.verify().problems == [], "\(name) is sound")
            }
        }
    }

    @Test func `an attachment without space leaves no file`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let database = try Database.create(folder.path("a"))
            let kept = try database.makeAttachment("kept", content: [UInt8](repeating: 1, count: 150_000))
            try database.save(Document(id: "kept", attachments: [kept]), onConflict: .fail)
            try FileSizeLimit.set(200_000)
            var refused: DatabaseErrorCode?
            do {
                _ = try database.makeAttachment("large", content: [UInt8](repeating: 2, count: 1_000_000))
            } catch let error as DatabaseError { refused = error.code }
            try FileSizeLimit.check(
                refused == .diskFull || refused == .inputOutput, "refused: \(String(describing: refused))")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("a/attachments/new"))
            try FileSizeLimit.check(left.isEmpty, "left: \(left)")
            try FileSizeLimit.check(database.info().attachmentFilesSize == 150_000, "only what is named has a file")
            try FileSizeLimit.check(database.verify().problems == [], "sound")
            try FileSizeLimit.lift()
            let large = try database.makeAttachment("large", content: [UInt8](repeating: 2, count: 1_000_000))
            try database.save(Document(id: "large", attachments: [large]), onConflict: .fail)
            try FileSizeLimit.check(database.verify().problems == [], "sound with room")
        }
    }

    @Test func `an attachment that lost a piece is never finished, not even with room`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let database = try Database.create(folder.path("a"))
            let piece = [UInt8](repeating: 1, count: 150_000)
            let writer = try database.attachmentWriter(contentType: "video/mp4")
            try writer.write(piece)
            try FileSizeLimit.set(200_000)
            let refused = code { try writer.write(piece) }
            try FileSizeLimit.check(
                refused == .diskFull || refused == .inputOutput, "refused: \(String(describing: refused))")
            try FileSizeLimit.lift()
            try FileSizeLimit.check(code { try writer.write(piece) } == .invalid, "no piece follows")
            try FileSizeLimit.check(code { try writer.finish(name: "x") } == .invalid, "it is not finished")
            let attachment = try database.makeAttachment("x", content: piece + piece)
            try database.save(Document(id: "x", attachments: [attachment]), onConflict: .fail)
            try FileSizeLimit.check(database.content(of: attachment) == piece + piece, "a new writer has all")
            try FileSizeLimit.check(database.verify().problems == [], "sound with room")
        }
    }

    @Test func `settings that can't all be written name the reason, and leave the old ones and no other file`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let record = FolderRecord(folder.path)
            let old = [UInt8]("old".utf8)
            _ = try record.write(old, replacing: nil)
            try FileSizeLimit.set(1000)
            var refused: DatabaseError?
            do { _ = try record.write([UInt8](repeating: 1, count: 3000), replacing: 0) } catch let error
                as DatabaseError
            { refused = error }
            let reason = String(cString: strerror(EFBIG))
            try FileSizeLimit.check(
                refused?.message.contains(reason) == true, "refused: \(String(describing: refused))")
            try FileSizeLimit.check(record.read()?.bytes == old, "the old ones stay")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            try FileSizeLimit.check(names == ["server.json"], "no other file stays: \(names)")
            try FileSizeLimit.lift()
            let new = [UInt8](repeating: 2, count: 3000)
            _ = try record.write(new, replacing: 0)
            try FileSizeLimit.check(record.read()?.bytes == new, "the new ones are written with room")
        }
    }

    @Test func `compaction without space changes nothing`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let database = try Database.create(folder.path("a"))
            var document = Document(id: "a", body: ["text": .string(String(repeating: "x", count: 200_000))])
            for number in 0..<4 {
                document["n"] = .number(JSONNumber(number))
                document = try database.save(document, onConflict: .fail)
            }
            try FileSizeLimit.set(100_000)
            _ = try? database.compact()
            try FileSizeLimit.check(database.document("a") == document, "the document is there")
            try FileSizeLimit.lift()
            try database.compact()
            try FileSizeLimit.check(database.document("a") == document, "the document is there")
            try FileSizeLimit.check(database.verify().problems == [], "sound")
        }
    }
}
