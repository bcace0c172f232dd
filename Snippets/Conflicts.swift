import Settle

// Two people edit the same document while apart.
let anna = try Database.inMemory()
let ben = try Database.inMemory()

var milk = Document(id: "milk", body: ["name": "Milk", "count": 1, "note": "low fat"])
milk = try anna.save(milk, onConflict: .fail)
try pull(from: anna, into: ben)

milk["count"] = 3
milk["note"] = nil
try anna.save(milk, onConflict: .fail)

if var milk = try ben.document("milk") {
    milk["name"] = "Oat milk"
    milk["count"] = 2
    try ben.save(milk, onConflict: .fail)
}
try pull(from: ben, into: anna)
try pull(from: anna, into: ben)

// What a read shows, and what else there is.
print("read:", try anna.document("milk")?.json ?? .null)
for id in try anna.conflictedDocumentIDs() { print("in conflict:", id) }

if let conflict = try anna.conflict(of: "milk") {
    for leaf in conflict.leaves { print("leaf:", leaf.json) }
    print("base:", conflict.base?.json ?? .null)
}

// A merge with rules.
let rules = MergeRules(onClash: .winner, attributes: ["/count": .sum, "/tags": .union, "/price": .leave])
let merge = ConflictPolicy.threeWayMerge(rules)

if let preview = try anna.preview("milk", using: merge) {
    for member in preview.decision?.attributes ?? [] {
        print(member.path, "→", member.result ?? .null, "–", member.reason)
    }
    for write in preview.plan.writes {
        print(write.isDeleted ? "close" : "write", write.parent, "──", write.revision)
    }
}

let settlement = try anna.settle("milk", using: merge)
print(settlement.outcome, try anna.document("milk")?.json ?? .null)
for leaf in try anna.leaves(of: "milk") where leaf.isDeleted { print("tombstone:", leaf.json) }

let same = try ben.settle("milk", using: merge)
print("the same revisions:", same.written == settlement.written)

// A rule of one's own, with a name and a version.
var earliest = ConflictPolicy.custom("earliest due date", version: "1") { conflict in
    let earliest = conflict.liveLeaves.min { ($0["due"]?.string ?? "~") < ($1["due"]?.string ?? "~") }
    return earliest.map { .document($0) } ?? .leaveConflicted
}
earliest.checksPurity = true

try edit("report", ["due": "2030-05-02"], ["due": "2030-04-30"])
try anna.settle("report", using: earliest)
print(try anna.document("report")?.json ?? .null)

// A person decides, one question at a time, in a minute at the most.
var asking = ConflictPolicy.asking("Anna") { conflict in
    let answer = await choice(among: conflict.liveLeaves)
    return answer.map { .document($0) } ?? .leaveConflicted
}
asking.timeLimit = .seconds(60)

try edit("title", ["text": "Breakfast"], ["text": "Brunch"])
let report = try await anna.settleAll(asking: asking, atOnce: 1)
print(report.settled, "settled,", report.left, "left,", report.failed, "failed")
print(try anna.document("title")?["text"] ?? .null)

// Deletions against edits.
try edit("bread", ["name": "Bread", "count": 2], nil)
print("read:", try anna.document("bread")?.json ?? .null)
print("disputed:", try anna.conflictedDocumentIDs(.deletion).map(\.string))
try anna.settle("bread", using: .threeWayMerge(rules, deletionsWin: true))
print("read:", try anna.document("bread")?.json ?? .null)

// What can go wrong, and what to do.
struct NoPrice: Error {}
let strict = ConflictPolicy.custom("strict") { conflict in
    guard conflict.winner["price"] != nil else { throw NoPrice() }
    return .document(conflict.winner)
}

try edit("tea", ["count": 2], ["count": 3])
do {
    try anna.settle("tea", using: strict)
} catch let error as DatabaseError where error.code == .resolverFailed {
    print("stays in conflict:", error.cause.map { "\($0)" } ?? "-")
}

// By itself, as long as the app runs.
let settling = anna.settleAutomatically(using: merge)
try await settling.idle()
print("left:", try anna.conflictedDocumentIDs().count)
await settling.stop()

for await event in settling.events {
    switch event {
    case .settled(let settlement): print(settlement.documentID, settlement.outcome)
    case .failed(let id, let error): print(id, error)
    case .ended(let error): print(error)
    }
}

/// Shows somebody the versions of a document; here everybody takes the last one.
func choice(among versions: [Document]) async -> Document? {
    versions.last
}

/// Makes a document on both copies and edits it on both; `nil` deletes. Afterwards Anna has both edits.
func edit(_ id: DocumentID, _ here: DocumentBody, _ there: DocumentBody?) throws {
    var mine = try anna.save(Document(id: id), onConflict: .fail)
    try pull(from: anna, into: ben)
    mine.setBody(here)
    try anna.save(mine, onConflict: .fail)
    if var theirs = try ben.document(id), let there {
        theirs.setBody(there)
        try ben.save(theirs, onConflict: .fail)
    } else {
        try ben.delete(id)
    }
    try pull(from: ben, into: anna)
}

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
