import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct DatabasePoolTests {
    @Test func `a database that the program deleted and created again is the new one`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/old", [:])
        let store = try DocumentStore(path: client.folder.path)
        try store.delete("db")
        #expect(try client.send("GET", "/db").status == 404)
        _ = try store.create("db")
        #expect(try client.send("GET", "/db").json["doc_count"] == 0)
        #expect(try client.send("PUT", "/db/new", [:]).status == 201)
    }

    @Test func `databases that made room have all that was written when they are opened again`() throws {
        let folder = try TemporaryFolder()
        let pool = DatabasePool(store: try DocumentStore(path: folder.path), limit: 4)
        let names = (0..<40).map { "db\($0)" }
        for name in names { try pool.create(name) }
        for round in 0..<3 {
            for name in names {
                _ = try pool.open(name).write([
                    DocumentEdit(id: DocumentID(validating: "d\(round)"), parent: nil, body: [:])
                ])
                #expect(pool.openCount <= 4)
            }
        }
        pool.closeAll()
        // The log is short, and so it was left as it is.
        #expect(FileManager.default.fileExists(atPath: folder("db0.settle/database.sqlite-wal")))
        let store = try DocumentStore(path: folder.path)
        for name in names {
            let database = try store.open(name)
            #expect(try (0..<3).allSatisfy { try database.document(DocumentID(validating: "d\($0)")) != nil })
            database.close()
        }
        #expect(!FileManager.default.fileExists(atPath: folder("db0.settle/database.sqlite-wal")))
    }

    @Test func `a long log is emptied when its database makes room`() throws {
        let folder = try TemporaryFolder()
        let pool = DatabasePool(store: try DocumentStore(path: folder.path), limit: 1)
        try pool.create("long")
        let text = JSONValue.string(String(repeating: "x", count: 300_000))
        _ = try pool.open("long").write([
            DocumentEdit(id: DocumentID(validating: "d"), parent: nil, body: ["text": text])
        ])
        try pool.create("other")
        pool.closeAll()
        #expect(!FileManager.default.fileExists(atPath: folder("long.settle/database.sqlite-wal")))
        #expect(try DocumentStore(path: folder.path).open("long").document("d")?["text"] == text)
    }
}
