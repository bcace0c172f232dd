import Foundation
import Settle
import SettleTesting
import Testing

/// The files that a process leaves when it is killed at a given point, made by copying them while they are open.
@Suite struct KilledProcessTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a database killed before its first checkpoint opens`() throws {
        let database = try Database.create(folder.path("a"))
        try database.save(Document(id: "milk", body: ["count": 1]), onConflict: .fail)
        try folder.copy("a", to: "b")
        let left = try Database.open(folder.path("b"))
        #expect(try left.document("milk")?["count"] == 1)
        #expect(try left.verify().problems == [])
    }

    @Test func `a database killed right after its creation opens`() throws {
        let database = try Database.create(folder.path("a"))
        try folder.copy("a", to: "b")
        #expect(try Database.open(folder.path("b")).verify().problems == [])
        database.close()
    }

    @Test(arguments: ["", "half a page"])
    func `the remains of a database killed during its creation are replaced`(leftOver: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("a"), withIntermediateDirectories: true)
        for ending in ["", "-journal", "-wal"] {
            try Data(leftOver.utf8).write(to: URL(filePath: folder.path("a/database.new" + ending)))
        }
        #expect(throws: DatabaseError.self) { try Database.open(folder.path("a")) }
        let database = try Database.openOrCreate(folder.path("a"))
        try database.save(Document(id: "milk"), onConflict: .fail)
        #expect(try database.verify().problems == [])
        #expect(!FileManager.default.fileExists(atPath: folder.path("a/database.new")))
    }
}
