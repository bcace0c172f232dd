// Search: documents by words in their texts.
import Settle

let database = try Database.inMemory()
try database.save(
    Document(id: "dust", body: ["title": "Dust", "summary": "A catalogue of débris, from attics and old books."]),
    onConflict: .fail)
try database.save(
    Document(id: "atlas", body: ["title": "The old atlas", "summary": "Maps of places that never were."]),
    onConflict: .fail)

let books = TextIndex("books", fields: [TextIndexField("title", weight: 5), "summary"])
for match in try database.search("catalogue AND deb*", in: books) {
    print(match.id, match.snippets.map { $0.marked() })
}

// Phrases, fields, and what is not wanted; twenty of the second page.
let found = try database.search("title:old -\"old books\"", in: books, limit: 20, skip: 0)
print(found.map(\.id))

// For what a person is typing, whatever signs that has.
print(try database.search(TextIndex.typed("old bo"), in: books).map(\.id))

// As they are now, then each time they are others.
for try await matches in database.observe("old", in: books) {
    print(matches.map(\.id))
    break
}
