// The code of the article "Getting started". A comment with an arrow is what the line before it prints.
import Foundation
import Settle

let path = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path

// A model: any Codable & Identifiable struct.
nonisolated struct Item: Codable, Identifiable {
    var id: String?
    var name: String
    var count: Int
    var done = false
}

// Open.
let store = try DocumentStore(path: path)
let database = try store.openOrCreate("shopping")

// Save, change, read, delete.
var milk = try database.save(Item(name: "Milk", count: 1))
milk.count = 2
try database.save(&milk)
try database.update(milk.id, as: Item.self) { $0.count += 1 }
if let item = try database.document(milk.id, as: Item.self) { print(item.name, item.count, item.id == milk.id) }
// → Milk 3 true
let bread = try database.save(Item(name: "Bread", count: 1))
try database.delete(bread)

// A copy that is out of date saves what was changed in it, and keeps what others have changed.
milk.done = true
try database.save(&milk)
print(milk.count, milk.done)
// → 3 true
var late = milk
try database.update(milk.id, as: Item.self) { ($0.name, $0.done) = ("Oat milk", false) }
late.name = "Soy milk"
do { try database.save(&late) } catch let error as DatabaseError {
    print(error.code, (error.cause as? AttributeClashes)?.attributes.map(\.path) ?? [])
}
// → conflict ["/name"]

// Find.
let open = DocumentQuery<Item>().where { !$0.done && $0.count > 0 }
for item in try database.find(open) { print(item.name, item.count) }
// → Oat milk 3

// Follow: the list as it is, then each time it is another.
for try await list in database.observe(open) {
    print(list.map(\.name))
    break
}
// → ["Oat milk"]

// Sync, here with a second database of this process; `peer: url` syncs with a server.
let tablet = try store.openOrCreate("tablet")
let replicator = Replicator(database, with: LocalPeer(tablet)) { $0.conflictPolicy = .threeWayMerge() }
try await replicator.run()
print(try tablet.find(open).map(\.name))
// → ["Oat milk"]

// Sync with a server, as long as the app runs.
func follow(_ url: URL) async throws {
    let replicator = try Replicator(database, peer: url, isContinuous: true, conflictPolicy: .threeWayMerge())
    replicator.start()
    for await status in replicator.statuses {
        print(status.mode, status.completed, status.total, status.error?.message ?? "")
    }
}

// Test.
let test = try Database.inMemory()
try test.save(Item(id: "a", name: "Nothing to clean up", count: 1))

database.close()
tablet.close()
try FileManager.default.removeItem(atPath: path)
