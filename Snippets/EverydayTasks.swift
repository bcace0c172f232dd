// The ten everyday tasks of docs/COMPARISON.md. A comment with an arrow is what the code before it prints.
import Foundation
import Settle

nonisolated struct Note: Codable, Identifiable {
    var id: String?
    var title: String
    var year: Int
    var done = false
}

// Open
let folder = FileManager.default.temporaryDirectory.appending(path: "everyday-\(UUID().uuidString)").path
let database = try Database.openOrCreate(folder)

// Save a struct
let saved = try database.save(Note(title: "Buy milk", year: 2026))

// Update
try database.update(saved.id, as: Note.self) { $0.done = true }

// Typed query
let late = try database.find(DocumentQuery<Note>().where { $0.year >= 2026 && $0.done }).values
print(late.map(\.title))
// → ["Buy milk"]

// A list that follows
for try await notes in database.observe(DocumentQuery<Note>().where { $0.done }) {
    print(notes.values.map(\.title))
    break
}
// → ["Buy milk"]

// Attachment
try database.update(saved.id) { note in
    note.attach(try database.makeAttachment("photo.jpg", contentType: "image/jpeg", content: [255, 216]))
}

// Continuous sync with its status
if let url = URL(string: "http://ada:secret@127.0.0.1:5984/notes") {
    let replicator = try Replicator(database, peer: url, isContinuous: true)
    print(replicator.status.mode)
}
// → stopped

// Custom resolver
let newest = ConflictPolicy.custom("newest") { conflict in
    .document(conflict.liveLeaves.max { ($0["year"]?.int ?? 0) < ($1["year"]?.int ?? 0) } ?? conflict.winner)
}
try database.settleAll(using: newest)

// Batch
try database.transaction {
    for year in 2020..<2026 { try database.save(Note(title: "Look back", year: year)) }
}

// Test
let inMemory = try Database.inMemory()
try inMemory.save(Note(id: "n", title: "Nothing to clean up", year: 2026))

database.close()
try FileManager.default.removeItem(atPath: folder)
