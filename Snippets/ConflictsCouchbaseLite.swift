import Settle

// Local wins: the current revision in the database.
let localWins = ConflictPolicy.couchbaseLite { _, local, _ in local }

// Remote wins: the revision that came by replication.
let remoteWins = ConflictPolicy.couchbaseLite { _, _, remote in remote }

// Merge: the local members and the remote ones, which win where both have them.
let merge = ConflictPolicy.couchbaseLite { _, local, remote in
    guard var merged = local, let remote else { return local ?? remote }
    for member in remote.json.object ?? [:] { merged[member.name] = member.value }
    return merged
}

// Null: the document is deleted.
let delete = ConflictPolicy.couchbaseLite { _, _, _ in nil }

// Molly creates a document, and both change it.
let molly = try Database.inMemory()
let naomi = try Database.inMemory()
for (id, policy) in [("a", localWins), ("b", remoteWins), ("c", merge), ("d", delete)] {
    let id = try DocumentID(validating: id)
    var document = try molly.save(Document(id: id, body: ["name": "DocumentA"]), onConflict: .fail)
    try pull(from: molly, into: naomi)

    document["changeX"] = "Molly's"
    document["name"] = "from Molly"
    try molly.save(document, onConflict: .fail)
    if var document = try naomi.document(id) {
        document["changeY"] = "Naomi's"
        document["name"] = "from Naomi"
        try naomi.save(document, onConflict: .fail)
    }
    try pull(from: naomi, into: molly)

    try molly.settle(id, using: policy)
    print(id, try molly.document(id)?.json ?? .null)
}

// The resolver of a replicator: settles whatever a pull brings.
let settling = molly.settleAutomatically(using: merge)
try await settling.idle()
await settling.stop()

// Conflicts when updating: keys of the new document win over the current one's.
let fresh = try molly.save(Document(id: "xyz", body: ["name": "pears"]), onConflict: .fail)
var current = fresh
current["count"] = 3
try molly.save(current, onConflict: .fail)

var document = fresh
document["name"] = "apples"
document = try molly.save(
    document,
    onConflict: .merge { new, current in
        var result = current?.json.object ?? [:]
        for member in new.json.object ?? [:] { result[member.name] = member.value }
        new.setBody(try DocumentBody(.object(result)))
        return true
    })
print(document.json)

/// Brings every revision of another copy, as replication does.
func pull(from source: Database, into target: Database) throws {
    for change in try source.changes(style: .allLeaves) {
        let tree = try source.tree(of: change.id)
        for leaf in try source.leaves(of: change.id) {
            guard let revision = leaf.revision, let history = tree?.history(of: revision) else { continue }
            var incoming = ReplicatedRevision(
                id: leaf.id, history: history, isDeleted: leaf.isDeleted, body: try leaf.body())
            incoming.isDeletionAtSource = change.isDeleted && revision == change.winner
            try target.insertReplicated([incoming])
        }
    }
}
