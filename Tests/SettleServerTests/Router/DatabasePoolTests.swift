import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct DatabasePoolTests {
    @Test func `a database that the program deleted and created again is the new one`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/old", [:])
        let store = try Store(path: client.folder.path)
        try store.delete("db")
        #expect(try client.send("GET", "/db").status == 404)
        _ = try store.create("db")
        #expect(try client.send("GET", "/db").json["doc_count"] == 0)
        #expect(try client.send("PUT", "/db/new", [:]).status == 201)
    }
}
