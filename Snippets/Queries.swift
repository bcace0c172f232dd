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
for row in try database.find(grown).rows { print(row.id, row.value.age) }

// An order has to be served by an index, which is a part of a design document and replicates with it.
try database.createIndex(on: \.age, \.name, of: Person.self)
let oldest = grown.sorted(by: [\.age, \.name], .descending).prefix(1)
print(try database.find(oldest).values)

// Why it is answered as it is.
let plan = try database.explain(oldest)
print(plan.index?.name ?? "", plan.start, plan.end)

// Without a model, by names; and in CouchDB's own language.
let selector = try MangoSelector(["city": ["$in": ["Prague", "Brno"]]])
print(try database.find(DocumentQuery<JSONValue>(selector).where { $0["age"] >= 18 }.selecting("_id", "city")).values)

// A page at a time, and as it changes.
for try await page in database.pages(of: grown, size: 100) { print(page.rows.count) }
for try await people in database.observe(grown) {
    print(people.values.map(\.name), people.misfits)
    break
}
