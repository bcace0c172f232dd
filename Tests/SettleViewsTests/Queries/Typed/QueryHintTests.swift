import Settle
import Testing

/// What a query says of conditions that find nothing and of indexes that it does not use.
struct QueryHintTests {
    private func database() throws -> Database {
        let database = try Database.inMemory()
        try database.save(Document(id: "a", body: ["lines": [["product": "P1"]], "address": ["city": "Brno"]]))
        try database.save(Document(id: "b", body: ["lines": [], "address": ["city": "Prague"], "placed": 1]))
        return database
    }

    @Test func `a path through a list warns, and names the form that finds elements`() throws {
        let database = try database()
        let all = DocumentQuery<JSONValue>()
        let result = try database.find(all.where { $0["lines.product"] == "P1" })
        #expect(result.rows.isEmpty)
        let warning = result.warnings.first { $0.contains("lines.product") }
        #expect(warning?.contains("$0.lines.contains { $0.product == … }") == true)
        #expect(result.warnings.filter { $0.contains("goes through") }.count == 1)
        for query in [
            all.where { $0["lines.0.product"] == "P1" }, all.where { $0["address.city"] == "P1" },
            all.where { $0["lines.7.product"] == "P1" }, all.where { $0["lines"] == "P1" },
        ] {
            #expect(try !database.find(query).warnings.contains { $0.contains("goes through") })
        }
    }

    @Test func `an index that is not used for its first member says why, and is used once its others are required`()
        throws
    {
        let database = try database()
        try database.createIndex(on: "address.city", "placed", name: "by city")
        let inPrague = DocumentQuery<JSONValue>().where { $0["address.city"] == "Prague" }
        let result = try database.find(inPrague)
        #expect(result.rows.count == 1)
        let hint = result.warnings.first { $0.contains("by city") }
        #expect(hint?.contains("$0[\"placed\"].exists") == true && hint?.contains("\"address.city\" alone") == true)
        #expect(try database.explain(inPrague).warnings.contains { $0 == hint })
        #expect(try database.explain(inPrague.where { $0["placed"].exists }).index?.name == "by city")
        #expect(try !database.find(inPrague.where { $0["placed"].exists }).warnings.contains { $0.contains("by city") })
        #expect(
            try !database.find(DocumentQuery<JSONValue>().where { $0["placed"] == 1 }).warnings.contains {
                $0.contains("by city")
            })
        try database.createIndex(on: "address.city")
        #expect(try database.find(inPrague).warnings.isEmpty)
    }
}
