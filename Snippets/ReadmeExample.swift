import Settle

let phone = try Database.inMemory()
let laptop = try Database.inMemory()
let sync = Replicator(phone, with: LocalPeer(laptop)) { $0.conflictPolicy = .threeWayMerge() }
try phone.save(Document(id: "milk", body: ["name": "Milk", "count": 1]))
try await sync.run()

try phone.update("milk") { $0["count"] = 2 }  // one device is edited while it is offline,
try laptop.update("milk") { $0["name"] = "Oat milk" }  // and so is the other one
try await sync.run()
print(try laptop.document("milk")?.json ?? .null)
// → {"name":"Oat milk","count":2}
