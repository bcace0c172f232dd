import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import SettleViews
import Testing

private struct Address: Queryable, Equatable {
    var city: String
}

private struct Person: Codable, Equatable {
    var name: String
    var age: Int
    var nickname: String?
    var tags: [String] = []
    var address: Address?
    var home = Address(city: "Brno")
    /// Computed of two members.
    var label: String { "\(name), \(age)" }
}

struct QueryTests {
    private func people() throws -> Database {
        let database = try Database.plain()
        let all = [
            Person(name: "Ada", age: 36, nickname: "A", tags: ["x", "y"]), Person(name: "Bob", age: 41),
            Person(name: "Alan", age: 41, tags: ["y"], home: Address(city: "Prague")), Person(name: "Cid", age: 17),
        ]
        for person in all {
            let id = DocumentID(stringLiteral: person.name.lowercased())
            try database.save(Document(id: id, encoding: person), onConflict: .fail)
        }
        return database
    }

    private func names(_ query: DocumentQuery<Person>, in database: Database) throws -> [String] {
        try database.find(query).values.map(\.name).sorted()
    }

    @Test func `conditions are written like Swift`() throws {
        let database = try people()
        let all = DocumentQuery<Person>()
        #expect(try names(all.where { $0.age > 30 && $0.name.hasPrefix("A") }, in: database) == ["Ada", "Alan"])
        #expect(try names(all.where { $0.age < 30 || $0.name == "Bob" }, in: database) == ["Bob", "Cid"])
        #expect(try names(all.where { !($0.age == 41) }, in: database) == ["Ada", "Cid"])
        #expect(try names(all.where { $0.age != 41 }.where { $0.age >= 36 }, in: database) == ["Ada"])
        #expect(try names(all.where { $0.age <= 17 }, in: database) == ["Cid"])
        #expect(try names(all.where { $0.nickname == "A" }, in: database) == ["Ada"])
        #expect(try names(all.where { $0.nickname == nil }, in: database) == ["Alan", "Bob", "Cid"])
        #expect(try names(all.where { $0.nickname != nil }, in: database) == ["Ada"])
        #expect(try names(all.where { $0.tags.contains("y") }, in: database) == ["Ada", "Alan"])
        #expect(try names(all.where { $0.tags.hasCount(1) }, in: database) == ["Alan"])
        #expect(try names(all.where { $0.name.isOne(of: ["Bob", "Cid"]) }, in: database) == ["Bob", "Cid"])
        #expect(try names(all.where { $0.name.matches("^.o") }, in: database) == ["Bob"])
        #expect(try names(all.where { $0.home.city == "Prague" }, in: database) == ["Alan"])
        #expect(try names(all.where { $0["home.city"] == "Prague" }, in: database) == ["Alan"])
        #expect(try names(all.where { $0["nickname"].exists }, in: database) == ["Ada"])
        #expect(try names(all.where { $0["nickname"].isMissing }, in: database) == ["Alan", "Bob", "Cid"])
        #expect(try names(all.where { $0["age"].isOfKind("string") }, in: database) == [])
        let young = QueryCondition(try MangoSelector(["age": 17]))
        #expect(try names(all.where { _ in young }, in: database) == ["Cid"])
    }

    @Test func `a property that is not a member is an error, not a different query`() throws {
        let database = try people()
        let error = #expect(throws: QueryError.self) {
            try database.find(DocumentQuery<Person>().where { $0.label == "Ada, 36" })
        }
        #expect(error?.code == .unknownField)
        #expect(error?.description.contains("fieldNames") == true)
        #expect(throws: EncodingError.self) {
            try database.find(DocumentQuery<JSONValue>().where { _ in QueryField<Double>("x") == .nan })
        }
    }

    @Test func `documents come with id and revision, as models or as JSONValue`() throws {
        let database = try people()
        let row = try #require(try database.find(DocumentQuery<Person>().where { $0.name == "Bob" }).rows.first)
        #expect(row.id == "bob")
        #expect(row.revision == (try database.document("bob")?.revision))
        #expect(row.document?["age"] == 41)
        let json = try database.find(
            DocumentQuery<JSONValue>().where { $0["name"] == "Bob" }.selecting("_id", "age", "home.city"))
        #expect(json.values == [["_id": "bob", "age": 41, "home": ["city": "Brno"]]])
        #expect(json.rows.first?.revision == nil)
    }

    @Test func `an index serves an order, and parts of it`() throws {
        let database = try people()
        try database.createIndex(on: "age", "name")
        let sorted = DocumentQuery<Person>().where { $0.age > 0 && $0.name > "" }.sorted(by: "age", "name")
        #expect(try database.find(sorted).values.map(\.name) == ["Cid", "Ada", "Alan", "Bob"])
        let reversed = DocumentQuery<Person>().sorted(by: .descending("age"), .descending("name"))
        #expect(try database.find(reversed).values.map(\.name) == ["Bob", "Alan", "Ada", "Cid"])
        #expect(try database.find(sorted.dropFirst(1).prefix(2)).values.map(\.name) == ["Ada", "Alan"])
        let constant = DocumentQuery<Person>().where { $0.age == 41 }.sorted(by: .descending("name"))
        #expect(try database.find(constant).values.map(\.name) == ["Bob", "Alan"])
        let covered = try database.find(
            DocumentQuery<JSONValue>().where { $0["age"] > 36 && $0["name"].exists }.selecting("name"))
        #expect(covered.values == [["name": "Alan"], ["name": "Bob"]])
        #expect(covered.statistics.documentsExamined == 0 && covered.statistics.keysExamined == 2)
        let mixed = #expect(throws: QueryError.self) {
            try database.find(DocumentQuery<Person>().sorted(by: "age", .descending("name")))
        }
        #expect(mixed?.code == .mixedSort)
    }

    @Test func `indexes are created once, listed and removed, and are stored in design documents`() throws {
        let database = try people()
        let index = try database.createIndex(on: "age")
        #expect(index.name == "ae8325de4e40689e6a6f4843a539d4b91f68c4f1")
        let revision = try database.document("_design/ae8325de4e40689e6a6f4843a539d4b91f68c4f1")?.revision
        #expect(try database.createIndex(on: "age") == index)
        #expect(try database.document("_design/ae8325de4e40689e6a6f4843a539d4b91f68c4f1")?.revision == revision)
        try database.createIndex(on: "name", name: "n", designDocument: "two")
        try database.createIndex(on: .descending("age"), name: "a", designDocument: "_design/two")
        #expect(try database.indexes().map(\.name) == ["_all_docs", index.name, "a", "n"])
        let two = try database.indexes().filter { $0.designDocument == "_design/two" }
        #expect(try database.deleteIndex(two[0]))
        #expect(try !database.deleteIndex(two[0]))
        #expect(try database.document("_design/two") != nil)
        #expect(try database.deleteIndex(two[1]))
        #expect(try database.document("_design/two") == nil)
        #expect(try !database.deleteIndex(database.indexes()[0]))
        #expect(try database.indexes().map(\.name) == ["_all_docs", index.name])
    }

    @Test func `a transaction that creates or removes an index sees that, and nobody does when it failed`() throws {
        struct Refused: Error {}
        let database = try people()
        func names() throws -> [String] { try database.indexes().map(\.name) }
        #expect(try names() == ["_all_docs"])
        try database.transaction {
            #expect(try names() == ["_all_docs"])
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.createIndex(on: "name", name: "names", designDocument: "names")
                    #expect(try names() == ["_all_docs", "names"])
                    throw Refused()
                }
            }
            #expect(try names() == ["_all_docs"])
            try database.createIndex(on: "age", name: "ages", designDocument: "ages")
            #expect(try names() == ["_all_docs", "ages"])
        }
        #expect(try names() == ["_all_docs", "ages"])
        #expect(throws: Refused.self) {
            try database.transaction {
                #expect(try database.deleteIndex(database.indexes()[1]))
                try database.createIndex(on: "name", name: "names", designDocument: "names")
                #expect(try names() == ["_all_docs", "names"])
                throw Refused()
            }
        }
        #expect(try names() == ["_all_docs", "ages"])
    }

    @Test func `a design document of functions can't have query indexes`() throws {
        let database = try people()
        try database.save(Document(id: "_design/js", body: ["language": "javascript"]), onConflict: .fail)
        let error = #expect(throws: QueryError.self) { try database.createIndex(on: "age", designDocument: "js") }
        #expect(error?.code == .invalidLanguage)
        #expect(throws: QueryError.self) { try database.createIndex(on: "") }
    }

    @Test func `a filter that searches for words is refused, and nothing is stored`() throws {
        let database = try people()
        let filter = try MangoSelector(["$and": [["$text": "ada"], ["age": ["$gt": 1]]]])
        let error = #expect(throws: SelectorError.self) { try database.createIndex(on: "age", partialFilter: filter) }
        #expect(error?.code == .notSupported)
        let other = #expect(throws: SelectorError.self) {
            try database.createTextIndex(on: "name", partialFilter: filter)
        }
        #expect(other?.code == .notSupported)
        #expect(try database.info().documents.live == 4)
        #expect(try database.indexes().map(\.name) == ["_all_docs"])
    }

    @Test func `a partial index has only its documents`() throws {
        let database = try people()
        let old = try MangoSelector(["age": ["$gte": 40]])
        try database.createIndex(on: "name", name: "old", designDocument: "old", partialFilter: old)
        let query = DocumentQuery<Person>().where { $0.name.exists }
        #expect(try names(query.using("old"), in: database) == ["Alan", "Bob"])
        var cid = try #require(try database.document("cid"))
        cid["age"] = 50
        try database.save(cid, onConflict: .fail)
        #expect(try names(query.using("old", name: "old", isRequired: true), in: database) == ["Alan", "Bob", "Cid"])
        #expect(try names(query, in: database).count == 4)
    }

    @Test func `without updating, an index answers with its last state`() throws {
        let database = try people()
        let index = try database.createIndex(on: "age")
        let query = DocumentQuery<Person>().where { $0.age > 40 }
        #expect(try names(query.withoutUpdating(), in: database) == [])
        #expect(try names(query, in: database) == ["Alan", "Bob"])
        try database.delete(try #require(try database.document("bob")), onConflict: .fail)
        #expect(try names(query.withoutUpdating(), in: database) == ["Alan"])
        // Also in a transaction, although the index that has its changes exists.
        try database.transaction {
            try database.save(Document(id: "eve", encoding: Person(name: "Eve", age: 50)), onConflict: .fail)
            #expect(try names(query.withoutUpdating(), in: database) == ["Alan"])
            #expect(try names(query, in: database) == ["Alan", "Eve"])
            #expect(try names(query.withoutUpdating(), in: database) == ["Alan"])
            let status = try index.status(in: database)
            #expect(status?.rows == 4 && status?.pending == 2)
        }
    }

    @Test func `without updating, a text index answers with its last state, also in a transaction`() throws {
        let database = try people()
        try database.createTextIndex(on: "name")
        let query = DocumentQuery<Person>(try MangoSelector(["$text": "name:ada OR name:eve"]))
        #expect(try names(query, in: database) == ["Ada"])
        try database.transaction {
            try database.save(Document(id: "eve", encoding: Person(name: "Eve", age: 50)), onConflict: .fail)
            #expect(try names(query.withoutUpdating(), in: database) == ["Ada"])
            #expect(try names(query, in: database) == ["Ada", "Eve"])
        }
    }

    @Test func `members of the body with an underscore are queried, selected, sorted and indexed`() throws {
        let database = try Database.plain()
        let states: [(DocumentID, JSONValue)] = [("a", "failed"), ("b", "completed")]
        for (id, state) in states {
            let body: DocumentBody = ["source": "x", "_replication_state": state]
            try database.save(Document(id: id, body: body), onConflict: .fail)
        }
        let all = DocumentQuery<JSONValue>()
        let failed = all.where { $0["_replication_state"] == "failed" }
        for isIndexed in [false, true] {
            if isIndexed { try database.createIndex(on: "_replication_state") }
            #expect(try database.find(failed).rows.map(\.id) == ["a"])
            let part = try database.find(failed.selecting("_id", "_replication_state"))
            #expect(part.values == [["_id": "a", "_replication_state": "failed"]])
            #expect(try database.find(all.sorted(by: "_replication_state")).rows.map(\.id) == ["b", "a"])
        }
    }

    @Test func `conflicts can be queried and are in indexes`() throws {
        let database = try people()
        let branch = ReplicatedRevision(
            id: "ada", history: RevisionHistory(try #require(RevisionID("1-0"))), body: ["age": 1])
        try database.insertReplicated([branch])
        let query = DocumentQuery<JSONValue>(try MangoSelector(["_conflicts": ["$exists": true]])).selecting(
            "_id", "_conflicts")
        #expect(try database.find(query).rows.isEmpty)
        #expect(try database.find(query.withConflicts()).rows.map(\.id) == ["ada"])
        try database.createIndex(on: "_conflicts")
        let losers = try #require(try database.tree(of: "ada")).conflicts.map { JSONValue.string($0.description) }
        #expect(try database.find(query.withConflicts()).values == [["_id": "ada", "_conflicts": .array(losers)]])
    }
}
