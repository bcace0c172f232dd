// Queries: documents found by what is in them, from an index where there is one.
import Settle

nonisolated struct Person: Codable {
    var name: String
    var age: Int
    var city: String?
}

let database = try Database.inMemory()
for person in [Person(name: "Ada", age: 36), Person(name: "Alan", age: 41, city: "Prague")] {
    try database.save(Document(id: DocumentID(validating: person.name), encoding: person), onConflict: .fail)
}

let grown = DocumentQuery<Person>().where { $0.age > 30 && $0.name.hasPrefix("A") }
for person in try database.find(grown) { print(person.id, person.age) }
// → Ada 36
// → Alan 41

// An order has to be served by an index, which is a part of a design document and replicates with it.
try database.createIndex(on: \.age, \.name, of: Person.self)
let oldest = grown.sorted(by: [\.age, \.name], .descending).prefix(1)
print(try database.find(oldest).map(\.name))
// → ["Alan"]

// Why it is answered as it is.
let plan = try database.explain(oldest)
print(plan.index?.name ?? "", plan.start, plan.end)
// → a1a21ebec130327c9fb84518c03f0872fba75155 ["<MAX>"] [30,"A"]

// Without a model, by names; and in CouchDB's own language.
let selector = try MangoSelector(["city": ["$in": ["Prague", "Brno"]]])
print(try database.find(DocumentQuery<JSONValue>(selector).where { $0["age"] >= 18 }.selecting("_id", "city")).values)
// → [{"_id":"Alan","city":"Prague"}]

// A page at a time, and as it changes.
for try await page in database.pages(of: grown, size: 100) { print(page.rows.count) }
// → 2
for try await people in database.observe(grown) {
    print(people.values.map(\.name), people.misfits)
    break
}
// → ["Ada", "Alan"] []
