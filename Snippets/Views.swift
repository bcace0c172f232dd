// Views: rows that a closure makes of documents.
import Settle

let database = try Database.inMemory()
try database.save(Document(id: "1984", body: ["title": "Nineteen Eighty-Four", "year": 1949]), onConflict: .fail)
try database.save(Document(id: "dune", body: ["title": "Dune", "year": 1965]), onConflict: .fail)

let byYear = MapIndex<Int, String>("by year", version: 1) { book, emit in
    if let year = book["year"]?.int { emit(year, book["title"]?.string ?? "") }
}
for row in try database.rows(of: byYear, in: .between(1900, 1960)) { print(row.key, row.value) }

// How many there are, in all and of each year.
let counted = byYear.reduced(.count)
print(try database.reduce(counted) ?? 0)
for group in try database.groups(of: counted) { print(group.key, group.value) }

// As they are now, then each time they are others.
for try await books in database.observe(byYear, in: .from(1960)) {
    print(books.map(\.value))
    break
}
