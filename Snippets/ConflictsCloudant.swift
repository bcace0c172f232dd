import Settle

// Pick first: simple, and throws away everybody else's edits.
let pickFirst = ConflictPolicy.cloudant { _, conflicts in conflicts.first }

// Merge: the winner's members, and those that only others have.
let merge = ConflictPolicy.cloudant { _, conflicts in
    guard var merged = conflicts.first else { return nil }
    for other in conflicts.dropFirst() {
        for member in other.json.object ?? [:] where merged[member.name] == nil { merged[member.name] = member.value }
    }
    return merged
}

// Two edits here and one there on the same revision, 2-x.
let datastore = try Database.inMemory()
try insert("a", ["4-x", "3-x", "2-x", "1-x"], ["name": "here", "here": true])
try insert("a", ["3-y", "2-x", "1-x"], ["name": "there", "there": true])

for id in try datastore.conflictedDocumentIDs() { print(id) }

let settlement = try datastore.settle("a", using: merge)
for node in try datastore.tree(of: "a")?.leaves ?? [] {
    print(node.isDeleted ? "closed" : "winner", node.revision.generation)
}
print(try datastore.document("a")?.json ?? .null, settlement.superseded)

// The periodic sweep: one call, and one document's error does not stop the others.
try insert("b", ["2-y", "1-x"], ["from": "there"])
try insert("b", ["2-x", "1-x"], ["from": "here"])
let report = try datastore.settleAll(using: pickFirst)
for failure in report.failures { print(failure.documentID, failure.error) }
print(report.settled, try datastore.document("b")?.json ?? .null)

// Or by itself: whenever something arrives, and every few minutes what is left.
let settling = datastore.settleAutomatically(using: merge, sweepEvery: .seconds(180))
try await settling.idle()
await settling.stop()

/// Stores a revision with its ancestors, as replication does.
func insert(_ id: DocumentID, _ path: [String], _ body: DocumentBody) throws {
    let revisions = try path.map { try RevisionID(validating: $0) }
    let history = try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
    try datastore.insertReplicated([ReplicatedRevision(id: id, history: history, body: body)])
}
