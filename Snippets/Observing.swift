import Settle

let database = try Database.inMemory()
let observation = try database.observe()
try database.save(Document(id: "a"), onConflict: .fail)

for try await change in observation {
    print(change.id, change.winner)
    break
}
for try await document in database.observe("a") {
    print(document?.revision?.description ?? "gone")
    break
}
