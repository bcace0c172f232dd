import Settle
import Testing

@Suite struct SmokeTests {
    @Test func smoke() throws {
        for database in [
            try Database.inMemory(),
            try Database.create("/tmp/settle-smoke-\(UInt64.random(in: 0...UInt64.max)).settle"),
        ] {
            var d = try database.save(Document(id: "a", body: ["v": 1]), onConflict: .fail)
            #expect(d.revision?.description == "1-7a7e4b29f3af401e69b6f86e4c26b727")
            d["v"] = 2
            d.attach(try database.makeAttachment("x", content: [1, 2, 3]))
            d.attach(try database.makeAttachment("big", content: Array(repeating: 7, count: 200_000)))
            d = try database.save(d, onConflict: .fail)
            #expect(try database.document("a") == d)
            #expect(try database.content(of: d.attachments[0]).count == 200_000)
            #expect(throws: DatabaseError.self) { try database.save(Document(id: "a"), onConflict: .fail) }
            try database.delete(d, onConflict: .fail)
            #expect(try database.document("a") == nil)
            try database.save(Document(id: "a", body: ["r": 1]), onConflict: .fail)
            for i in 0..<100 {
                try database.save(
                    Document(id: DocumentID(validating: "d\(i)"), body: ["i": .number(JSONNumber(i))]),
                    onConflict: .fail)
            }
            let report = try database.verify()
            #expect(report.problems == [])
            print(report)
            print(try database.compact())
            print(try database.info())
            #expect(try database.verify().problems == [])
            #expect(try database.changes().count == 101)
            database.close()
        }
    }
}
