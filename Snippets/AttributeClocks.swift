import Settle
import SettleCore

// John and Marie change the name of one envelope, both offline.
let johns = try Database.inMemory()
let maries = try Database.inMemory()
try johns.setAttributeClocks(true)
try maries.setAttributeClocks(true)

var envelope = Document(id: "holidays", body: ["name": "Holidays", "budget": 40])
envelope = try johns.save(envelope, onConflict: .fail)
try pull(from: johns, into: maries)

envelope["name"] = "Holiday 2015"
envelope["budget"] = 50
try johns.save(envelope, onConflict: .fail)

try await Task.sleep(for: .milliseconds(20))
if var envelope = try maries.document("holidays") {
    envelope["name"] = "Family Holidays"
    try maries.save(envelope, onConflict: .fail)
}
try pull(from: johns, into: maries)
try maries.settle("holidays", using: .latestAttributeWins)

let settled = try maries.document("holidays")
print(settled?["name"] ?? .null, settled?["budget"] ?? .null)

// Who changed the name last?
let clocked = ClockedDocument(settled?.json.object ?? JSONObject())
print(clocked["name"].map { ($0 > clocked["budget"] ?? $0) ? "after the budget" : "before it" } ?? "not known")

/// Brings every revision of another copy, as replication does.
func pull(from source: Database, into target: Database) throws {
    for change in try source.changes(style: .allLeaves) {
        let tree = try source.tree(of: change.id)
        for leaf in try source.leaves(of: change.id) {
            guard let revision = leaf.revision, let history = tree?.history(of: revision) else { continue }
            try target.insertReplicated([
                ReplicatedRevision(id: leaf.id, history: history, isDeleted: leaf.isDeleted, body: try leaf.body())
            ])
        }
    }
}
