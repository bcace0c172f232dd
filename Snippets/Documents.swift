import Settle

let database = try Database.openOrCreate("groceries-demo/documents.settle")
let saved = try database.save(Document(id: "n1", body: ["text": "Hello"]), onConflict: .lastWriteWins)
print(try database.document("n1")?["text"]?.string ?? "-", saved.revision?.description ?? "-")

var milk = try database.document("milk") ?? Document(id: "milk", body: ["name": "Milk"])
milk["count"] = 2
milk = try database.save(milk, onConflict: .fail)

let order = Document(id: "order")
let stock = Document(id: "stock", body: ["milk": 1])
try database.transaction {
    try database.save(order, onConflict: .lastWriteWins)
    try database.save(stock, onConflict: .lastWriteWins)
}

let count = try await database.perform { try $0.info().documents.live }
print(count)
try database.delete("milk", keeping: ["name"])

let store = try DocumentStore(path: "groceries-demo")
let notes = try store.openOrCreate("notes")
print(try store.names(), notes.path ?? "-")
try store.delete("notes")
