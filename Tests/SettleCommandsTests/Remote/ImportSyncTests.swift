import Foundation
import Settle
import Testing

/// The first sync after an import sends only what the server lacks.
struct ImportSyncTests {
    /// A server with conflicts, tombstones and an attachment, and a dump of it.
    private func roomWithServer() throws -> RemoteRoom {
        let room = try RemoteRoom()
        try room.room.makeConflicts()
        try room.room.run("delete", "a", "bread", "--force")
        #expect(try room.run("sync", "a", room.url("old"), "--create").status == 0)
        return room
    }

    @Test(arguments: ["couchbackup", "pouchdb"])
    func `an imported dump of the server sends it nothing`(form: String) throws {
        let room = try roomWithServer()
        #expect(try room.run("export", room.url("old"), "dump", "--as", form).status == 0)
        #expect(try room.run("import", "app", "dump").status == 0)
        let first = try room.run("sync", "app", room.url("old"), "--json")
        #expect(first.json["sent"]?["documents"] == 0 || first.json["sent"]?["revisions"] == 0, "\(first)")
        #expect(first.json["received"]?["revisions"] == 0, "\(first)")
        #expect(try room.room.leaves("app") == room.room.leaves("a"))
    }

    @Test func `what was edited after the dump is all that is sent`() throws {
        let room = try roomWithServer()
        #expect(try room.run("export", room.url("old"), "dump", "--as", "couchbackup").status == 0)
        #expect(try room.run("import", "app", "dump").status == 0)
        #expect(try room.run("put", "app", "tea", #"{"name":"Tea"}"#).status == 0)
        let first = try room.run("sync", "app", room.url("old"), "--json")
        #expect(first.json["sent"]?["revisions"] == 1 && first.json["received"]?["revisions"] == 0, "\(first)")
    }

    @Test func `a dump is imported into a server as into a folder`() throws {
        let room = try roomWithServer()
        #expect(try room.run("export", room.url("old"), "dump", "--as", "couchbackup").status == 0)
        let far = try room.run("import", room.url("new"), "dump", "--json")
        let near = try room.run("import", "near", "dump", "--json")
        #expect(far.status == 0 && far.json["imported"] == near.json["imported"], "\(far) \(near)")
        let again = try room.run("import", room.url("new"), "dump", "--json")
        #expect(again.json["known"] == near.json["imported"] && again.status == 0, "\(again)")
        #expect(try room.run("sync", "near", room.url("new"), "--json").json["sent"]?["revisions"] == 0)
    }

    @Test(.enabled(if: ImportCommandTests.collections != nil), arguments: ["", "/"])
    func `collections go into databases of a server beside that of the URL`(ending: String) throws {
        let file = try #require(ImportCommandTests.collections)
        let room = try RemoteRoom()
        let outcome = try room.run("import", room.url("shop") + ending, file, "--all-collections", "--json")
        #expect(outcome.status == 0 && outcome.lines.count == 3, "\(outcome)")
        for name in ["shop", "shop%2B$shop%2B$orders", "shop%2B_default%2Bnotes"] {
            #expect(try room.run("info", room.url(name)).status == 0, "\(name)")
        }
    }
}
