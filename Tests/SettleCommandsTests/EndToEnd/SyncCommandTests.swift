import Foundation
import Settle
import Testing

struct SyncCommandTests {
    let room: Room

    init() throws { room = try Room() }

    @Test func `two databases exchange missing revisions, and are then equal`() throws {
        try room.makeConflicts()
        #expect(try room.leaves("a") == room.leaves("b"))
        let again = try room.run("sync", "a", "b", "--json")
        #expect(again.status == 0 && again.json["ok"] == true)
        #expect(again.json["sent"]?["revisions"] == 0 && again.json["received"]?["revisions"] == 0)
        #expect(again.json["sent"]?["documents"] == 0)
        let all = try room.run("sync", "a", "b", "--from-start", "--json")
        #expect(all.json["sent"]?["documents"] == 4 && all.json["sent"]?["revisions"] == 0)
        let text = try room.run("sync", "b", "a", "--from-start").line
        #expect(text.hasPrefix("Sent nothing new; received nothing new; 8 changed documents compared in "))
        // There are checkpoints again.
        #expect(try room.run("sync", "a", "b", "--json").json["sent"]?["documents"] == 0)
        #expect(try room.run("get", "a", "milk", "--attachment", "oats.txt").output == "a picture of oats")
        for name in ["a", "b"] { #expect(try room.run("verify", name).status == 0) }
    }

    @Test func `the counts show the revisions sent each way`() throws {
        try room.run("create", "a")
        try room.run("create", "b.settle")
        try room.write(String(repeating: "large ", count: 50_000), to: "large.bin")
        try room.run("attach", "a", "file", "large.bin")
        try room.run("put", "b", "note", "{}")
        let first = try room.run("sync", "a", "b", "--no-create", "--json")
        #expect(first.json["sent"]?["revisions"] == 1)
        #expect((first.json["sent"]?["bytes"]?.int ?? 0) > 300_000)
        #expect(first.json["received"]?["revisions"] == 1 && first.json["received"]?["documents"] == 1)
        #expect(try room.run("get", "b", "file", "--attachment", "large.bin").output.utf8.count == 300_000)
        #expect(try room.run("sync", "a", "b", "--quiet").output == "")
    }

    @Test func `a third copy can merge without having seen the base`() throws {
        try room.makeConflicts()
        #expect(try room.run("sync", "b", "c").output.contains("Sent 7 revisions"))
        let third = try room.run("conflicts", "c", "--json").lines
        #expect(third.count == 2 && !third.contains { $0.contains("\"base\":null") })
        for name in ["a", "b", "c"] { #expect(try room.run("resolve", name, "--all", "--on-clash", "sum").status == 0) }
        #expect(try room.leaves("a") == room.leaves("b") && room.leaves("b") == room.leaves("c"))
    }

    @Test func `a damaged document is reported and does not block the others`() throws {
        try room.run("create", "a")
        try room.write(String(repeating: "large ", count: 50_000), to: "large.bin")
        try room.run("attach", "a", "damaged", "large.bin", "--type", "image/png")
        try room.run("put", "a", "whole", "{}")
        let folder = room.folder.appending(path: "a/attachments")
        for case let file as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
        where file.count > 60 {
            try FileManager.default.removeItem(at: folder.appending(path: file))
        }
        let outcome = try room.run("sync", "a", "b", "--json")
        #expect(outcome.status == 1 && outcome.json["ok"] == false)
        #expect(outcome.json["sent"]?["refused"] == 1 && outcome.json["sent"]?["revisions"] == 1)
        #expect(outcome.error["id"] == "damaged" && outcome.error["error"] == "refused")
        #expect(try room.run("get", "b", "whole").status == 0)
    }

    @Test func `an impossible exchange is reported`() throws {
        try room.run("create", "a")
        #expect(try room.run("sync", "a").status == 2)
        #expect(try room.run("sync", "a", "a").errors.contains("both are the same database"))
        #expect(try room.run("sync", "a", "none", "--no-create").status == 3)
        #expect(try room.run("sync", "none", "b").status == 3)
        #expect(!FileManager.default.fileExists(atPath: room.path("b")))
    }
}
