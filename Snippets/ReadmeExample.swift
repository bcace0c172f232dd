import Settle

let store = try DocumentStore(path: "groceries-demo")
let database = try store.openOrCreate("groceries")

var milk = Document(id: "milk", body: ["name": "Milk", "count": 1])
milk = try database.save(milk)

milk["count"] = 2
milk = try database.save(milk)
print(milk.revision?.description ?? "-", milk["count"] ?? .null)

for change in try database.changes() {
    print(change.sequence, change.id, change.winner)
}
try store.delete("groceries")
