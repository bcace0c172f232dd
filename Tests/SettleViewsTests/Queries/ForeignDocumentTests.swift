import PostgresTesting
import Settle
import SettleTesting
import Testing

/// A database holds documents of other kinds, and of peers that write what they like: they end no typed query.
struct ForeignDocumentTests {
    struct Person: Codable, Equatable {
        var name: String
        var age: Int
    }

    struct Task: DocumentModel {
        var title: String
        var done: Bool
        static let documentType: DocumentType? = DocumentType("task")
    }

    struct Order: DocumentModel {
        var kind: String
        var total: Int
        static let documentType: DocumentType? = DocumentType("order", field: "kind")
    }

    private func put(_ id: DocumentID, _ body: JSONValue, in database: Database) throws {
        try database.save(Document(id: id, encoding: body), onConflict: .fail)
    }

    private func room() throws -> Database {
        let database = try Database.plain()
        try database.save(Document(id: "ada", encoding: Person(name: "Ada", age: 36)), onConflict: .fail)
        try put("bad", ["name": "Bob", "age": "old"], in: database)
        try put("note", ["text": "no person"], in: database)
        try database.save(Document(id: "zoe", encoding: Person(name: "Zoe", age: 7)), onConflict: .fail)
        return database
    }

    @Test func `documents that do not fit the model are listed beside those that do, with the reason`() throws {
        let database = try room()
        let result = try database.find(DocumentQuery<Person>())
        #expect(result.values.map(\.name) == ["Ada", "Zoe"])
        #expect(result.misfits.map(\.id) == ["bad", "note"])
        #expect(result.misfits.first?.revision == (try database.document("bad")?.revision))
        #expect(result.misfits.first?.description == #""bad" as Person: expected a number, found a string (at age)"#)
        #expect(result.misfits.last?.description == #""note" as Person: there is no member "name""#)
        let part = try database.find(DocumentQuery<Person>().selecting("name"))
        #expect(part.rows.isEmpty)
        #expect(part.misfits.count == 4)
    }

    @Test func `pages and live queries go on past them, and a page has its number of documents`() async throws {
        let database = try room()
        var (rows, misfits, pages) = (0, 0, 0)
        for try await page in database.pages(of: DocumentQuery<Person>(), size: 2) {
            (rows, misfits, pages) = (rows + page.rows.count, misfits + page.misfits.count, pages + 1)
        }
        #expect((rows, misfits, pages) == (2, 2, 2))
        var live = database.observe(DocumentQuery<Person>()).makeAsyncIterator()
        #expect(try await live.next()?.misfits.count == 2)
        try put("worse", ["age": []], in: database)
        let next = try #require(try await live.next())
        #expect(next.values.map(\.name) == ["Ada", "Zoe"])
        #expect(next.misfits.map(\.id) == ["bad", "note", "worse"])
    }

    @Test func `a model that names its type finds and writes its own documents`() throws {
        let database = try room()
        try database.save(Document(id: "t1", encoding: Task(title: "a", done: false)), onConflict: .fail)
        try database.save(Document(id: "t2", encoding: Task(title: "b", done: true)), onConflict: .fail)
        try put("t3", ["type": "list", "title": "c", "done": false], in: database)
        #expect(try database.document("t1")?.json == ["type": "task", "title": "a", "done": false])
        let result = try database.find(DocumentQuery<Task>())
        #expect(result.values.map(\.title) == ["a", "b"])
        #expect(result.misfits.isEmpty)
        #expect(try database.find(DocumentQuery<Task>().where { !$0.done }).values.map(\.title) == ["a"])
        #expect(
            try database.find(DocumentQuery<Task>().where { $0.done && $0.title > "a" }).values.map(\.title) == ["b"])
        #expect(try database.find(DocumentQuery<Task>().where { $0.title == "a" || $0.done }).values.count == 2)
        #expect(try database.find(DocumentQuery<Task>().where { $0.done }).values.map(\.title) == ["b"])
    }

    @Test func `a model that has the member itself decides what is in it`() throws {
        let database = try Database.plain()
        try database.save(Document(id: "o", encoding: Order(kind: "order", total: 3)), onConflict: .fail)
        #expect(try database.document("o")?.json == ["kind": "order", "total": 3])
        #expect(try database.find(DocumentQuery<Order>()).values.map(\.total) == [3])
        var document = try #require(try database.document("o"))
        try document.setBody(encoding: Task(title: "t", done: true))
        #expect(document.json == ["type": "task", "title": "t", "done": true])
    }
}
