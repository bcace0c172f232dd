import Foundation
import Settle
import SettleTesting
import Testing

// This target is isolated to the main actor by default, as Xcode makes new apps. Everything that an app declares and calls is here.

/// A model: the protocol makes it nonisolated.
struct Person: DocumentModel, Equatable {
    struct Address: DocumentModel, Equatable {
        var city: String
    }

    var name: String
    var age: Int
    var born = Date(timeIntervalSince1970: 0)
    var isMember = false
    var address = Address(city: "Prague")

    static let documentType: DocumentType? = DocumentType("person")

    func isOlder(than other: Person) -> Bool { age > other.age }
}

/// The key of an index, which is a model too.
struct Place: DocumentModel, Hashable {
    var city: String
    var age: Int
}

/// What an app's window shows: state of the main actor.
final class PeopleModel {
    let database: Database
    var people: [Person] = []
    var title = ""

    init(_ database: Database) { self.database = database }

    func add(_ person: Person, id: DocumentID) throws {
        try database.save(Document(id: id, encoding: person), onConflict: .fail)
    }

    func load() throws {
        people = try database.find(DocumentQuery<Person>().where { $0.age > 30 && !$0.isMember }.sorted(by: "age"))
            .values
    }

    func follow(count: Int) async throws {
        var seen = 0
        for try await result in database.observe(DocumentQuery<Person>().where { $0.address.city == "Prague" }) {
            people = result.values
            seen += 1
            if seen == count { return }
        }
    }
}

struct IsolationTests {
    static let byCity = MapIndex<Place, String>("by city", version: 1) { document, emit in
        guard let city = document["address"]?["city"]?.string, let age = document["age"]?.int else { return }
        emit(Place(city: city, age: age), document["name"]?.string ?? "")
    }

    private func database() throws -> Database {
        let database = try Database.inMemory()
        try database.createIndex(on: "age")
        return database
    }

    @Test func `models, queries and indexes work from the main actor`() async throws {
        let model = PeopleModel(try database())
        try model.add(Person(name: "Ada", age: 36), id: "ada")
        try model.add(Person(name: "Cid", age: 17), id: "cid")
        try model.load()
        #expect(model.people.map(\.name) == ["Ada"])
        try await model.database.perform { try $0.update("cid", as: Person.self) { $0.isMember = true } }
        try await model.follow(count: 1)
        #expect(model.people.count == 2)
        #expect(model.people[0].isOlder(than: model.people[1]) || model.people[1].isOlder(than: model.people[0]))
        let rows = try model.database.rows(of: Self.byCity)
        #expect(rows.map(\.value) == ["Cid", "Ada"])
        for try await rows in model.database.observe(Self.byCity) {
            #expect(rows.count == 2)
            break
        }
    }

    @Test func `validation, conflicts and replication work from the main actor`() async throws {
        let (ada, ben) = (try database(), try database())
        ada.addValidation("milk") { context in
            guard context.newRevision["count"]?.int != nil else {
                throw DocumentRejection(message: "milk needs a count")
            }
        }
        #expect(throws: DatabaseError.self) { try ada.save(Document(id: "water"), onConflict: .fail) }
        try ada.save(Document(id: "milk", body: ["count": 1]), onConflict: .fail)
        try ben.save(Document(id: "milk", body: ["count": 2]), onConflict: .fail)
        try await OneWayReplicator(.push(ada, to: LocalPeer(ben))).run()
        let most = ConflictPolicy.custom("most") { conflict in
            .document(conflict.leaves.max { ($0["count"]?.int ?? 0) < ($1["count"]?.int ?? 0) } ?? conflict.winner)
        }
        try ben.settle("milk", using: most)
        #expect(try ben.document("milk")?["count"] == 2)
    }
}
