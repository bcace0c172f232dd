// The code of the guides for those who come from another database.
import Foundation
import Settle
import SettleImport

let database = try Database.inMemory()

// 1. From a server that speaks CouchDB's protocol: pull once. Ids, revisions, deletions and attachments stay as they are.
func pullEverything(from url: URL) async throws -> Int {
    let results = try await Replicator(database, peer: url, direction: .pull).run()
    return results.reduce(0) { $0 + $1.counts.revisionsWritten }
}

// 2. From another library of CouchDB's family in the same app: with the revisions that it has, newest first.
func take(_ id: String, revisions: [String], isDeleted: Bool = false, body: DocumentBody) throws {
    let path = try revisions.map { try RevisionID(validating: $0) }
    guard let newest = path.first else { return }
    let history = try RevisionHistory(start: newest.generation, signatures: path.map(\.signature))
    let revision = ReplicatedRevision(
        id: try DocumentID(validating: id), history: history, isDeleted: isDeleted, body: body)
    try database.insertReplicated([revision])
}

try take("milk", revisions: ["2-b1c2", "1-a0b1"], body: ["name": "Milk", "count": 2])
print(try database.document("milk")?.revision?.description ?? "-")

// 3. From a database without revisions: as new documents, under ids that every device derives alike.
func take(_ objects: [(key: String, fields: [String: JSONValue])], kind: String) throws {
    try database.transaction {
        for object in objects {
            let id = try DocumentID(validating: "\(kind):\(object.key)")
            guard try database.document(id) == nil else { continue }
            var document = Document(id: id, body: ["type": .string(kind)])
            for (name, value) in object.fields.sorted(by: { $0.key < $1.key }) { document[name] = value }
            try database.save(document)
        }
    }
}

try take([("7", ["name": "Bread", "count": 1])], kind: "item")
try take([("7", ["name": "Bread", "count": 1])], kind: "item")
print(try database.info().documents.live)

// 4. From the file of another product, at the start of the app.
func openNotes(at path: String, movingFrom old: URL) throws -> Database {
    try Database.openOrCreate(path, migratingFrom: old) { progress in
        print(progress.documents, "of", progress.total ?? 0)
    } review: { report in
        print(report)
    }
}

// 5. From a web view, which gives documents as JSON lines.
func take(_ file: URL) throws {
    let dump = try ForeignDatabase(at: file)
    let report = try database.importAll(from: dump)
    print(report.documents, report.notTaken)
}

let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let old = folder.appending(path: "old.jsonl")
try Data("{\"_id\":\"tea\",\"_rev\":\"1-a0b1\",\"name\":\"Tea\"}\n".utf8).write(to: old)
try take(old)
let notes = try openNotes(at: folder.path + "/notes.settle", movingFrom: old)
print(try notes.info().documents.live)
notes.close()
