import Observation
import Settle
import Testing

/// The observable objects of a window follow the database, and notify their observers of each change.
@Suite(.timeLimit(.minutes(5)))
struct LiveObjectTests {
    private let database: Database
    init() throws {
        database = try Database.inMemory()
        try database.save(Document(id: "ada", encoding: Person(name: "Ada", age: 36)))
    }

    /// Waits until something is true of observable objects, looking again each time one of them says that it changes.
    private func until(_ isTrue: () -> Bool) async {
        while true {
            let (changes, change) = AsyncStream.makeStream(of: Void.self)
            let now = withObservationTracking(isTrue) { change.yield() }
            if now { return }
            for await _ in changes { break }
            await Task.yield()
        }
    }

    @Test func `a live query shows what is found, and each change of it`() async throws {
        let people = LiveQuery(DocumentQuery<Person>().where { $0.age > 30 }, in: database)
        #expect(people.isLoading && people.rows.isEmpty)
        await until { !people.isLoading }
        #expect(people.values.map(\.name) == ["Ada"])
        try database.save(Document(id: "cid", encoding: Person(name: "Cid", age: 17)))
        try database.save(Document(id: "eve", encoding: Person(name: "Eve", age: 50)))
        await until { people.rows.count == 2 }
        #expect(Set(people.values.map(\.name)) == ["Ada", "Eve"])
        try database.save(Document(id: "odd", body: ["type": "person", "age": 90]))
        await until { !people.misfits.isEmpty }
        #expect(people.misfits.map(\.id) == ["odd"] && people.error == nil)
    }

    @Test func `a live query can be asked something else, and says why it ended`() async throws {
        let people = LiveQuery(DocumentQuery<Person>(), in: database)
        await until { people.rows.count == 1 }
        people.query = DocumentQuery<Person>().sorted(by: "name", withoutIndexUpTo: 0)
        await until { people.error != nil }
        #expect((people.error as? QueryError)?.code == .noUsableIndex && people.rows.count == 1)
        try database.createIndex(on: "name")
        people.query = DocumentQuery<Person>().where { $0.age < 30 }.sorted(by: "name")
        await until { !people.isLoading && people.error == nil }
        #expect(people.rows.isEmpty)
    }

    @Test func `a live query that nobody holds ends`() async throws {
        weak var gone: LiveQuery<Person>?
        do {
            let people = LiveQuery(DocumentQuery<Person>(), in: database)
            gone = people
            await until { !people.isLoading }
        }
        #expect(gone == nil)
    }

    @Test func `a live document shows the document, its changes and its end`() async throws {
        let ada = LiveDocument("ada", as: Person.self, in: database)
        await until { !ada.isLoading }
        #expect(ada.value?.age == 36)
        try database.update("ada", as: Person.self) { $0.age = 37 }
        await until { ada.value?.age == 37 }
        try database.update("ada") { $0["age"] = "old" }
        await until { ada.error != nil }
        #expect(ada.value == nil && ada.document?["age"] == "old")
        try database.delete("ada")
        await until { ada.document == nil }
        #expect(ada.error == nil && ada.value == nil)
    }
}
