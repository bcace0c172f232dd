import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleServer
import SettleTesting
import Testing

@testable import SettleCommands

/// Every verb on a folder and at the URL of a server that serves the same folder: what it prints, its exit code, and what it stores.
@Suite(.timeLimit(.minutes(10))) struct EveryVerbTests {
    @Test func `each verb has a case, or a reason why it has none`() {
        let cases = Set(VerbCase.all.map(\.verb))
        #expect(cases.isDisjoint(with: VerbCase.without.keys))
        #expect(cases.union(VerbCase.without.keys) == Set(CommandList.specs.map(\.name)))
        // A verb that takes the URL of a database has a case.
        for spec in CommandList.specs where spec.operands.contains(where: { $0.name == "DB" && $0.takesURL }) {
            #expect(cases.contains(spec.name), "\(spec.name)")
        }
    }

    @Test(arguments: VerbCase.all)
    func `a verb does the same on a folder and at the server of the folder`(verb: VerbCase) throws {
        let pair = try VerbPair()
        if ["pull", "sync"].contains(verb.verb) { try pair.makeOthers() }
        for line in verb.lines {
            let (near, far) = (try pair.run(line, .folder), try pair.run(line, .server))
            let exits = line.exits ?? (near.status, near.status)
            #expect(near.status == exits.folder, "\(line.words): \(near.errors)")
            #expect(far.status == exits.server, "\(line.words): \(near.errors) \(far.errors)")
            let (text, other) = (pair.plain(near.output, line), pair.plain(far.output, line))
            if let difference = line.difference, difference.isWhole {
                #expect(other != text, "\(line.words): \(difference.reason); it prints the same now")
            } else {
                #expect(other == text, "\(line.words)")
                #expect(pair.plain(far.errors, line) == pair.plain(near.errors, line), "\(line.words)")
            }
        }
        guard verb.stores != .elsewhere else { return }
        let (near, far) = try pair.stored(verb.stores)
        #expect(far == near)
    }

    @Test func `a folder that a server has open is named as in use`() throws {
        let pair = try VerbPair()
        #expect(try pair.remote.run("get", pair.remote.url(), "bread").status == 0)
        for words in [["get", pair.served, "bread"], ["resolve", pair.served, "--all", "--policy", "deletesWin"]] {
            let refused = try pair.remote.run(all: words + ["--wait", "0"])
            #expect(refused.status == 6 && refused.errors.contains("another process"), "\(refused.errors)")
        }
    }

    @Test func `a deletion leaves one survivor with the kept members, by folder, by URL and by the server`() throws {
        let pair = try VerbPair()
        let words = ["a", "--delete", "--json"]
        let near = try pair.remote.run(all: ["resolve", pair.folder] + words).json
        let far = try pair.remote.run(all: ["resolve", pair.remote.url()] + words).json
        let third = try VerbPair()
        let leaves = pair.revisions["a"].map { [$0, pair.revisions["a2"] ?? ""] } ?? []
        let own = try third.remote.send(
            "POST", "db/_settle/a", ["delete": true, "leaves": .array(leaves.map(JSONValue.string))])
        #expect(near["outcome"] == "settled" && near["rev"]?.string != nil, "\(near)")
        #expect(far["rev"] == near["rev"] && own["rev"] == near["rev"], "\(near) \(far) \(own)")
        let tombstone = try pair.remote.run("get", pair.folder, "a", "--rev", near["rev"]?.string ?? "")
        #expect(tombstone.json["owner"] == "me", "\(tombstone)")
    }
}

// MARK: - VerbPair

/// A database in a folder, and a copy of it that a server has.
final class VerbPair {
    enum Side { case folder, server }

    let remote: RemoteRoom
    let folder: String
    /// The folder that the server has.
    let served: String
    /// The winners of the documents, and other leaves, by a name.
    let revisions: [String: String]
    private let place: TemporaryFolder

    init() throws {
        let place = try TemporaryFolder()
        var (served, revisions) = ("", [String: String]())
        remote = try RemoteRoom(
            { $0.makesTextIndexes = true },
            preparing: { store in
                let database = try store.create("db")
                served = database.path ?? ""
                revisions = try Self.fill(database)
                database.close()
                try FileManager.default.copyItem(atPath: served, toPath: place("local.settle"))
                try FileManager.default.createDirectory(atPath: place("data"), withIntermediateDirectories: true)
                try FileManager.default.copyItem(atPath: served, toPath: place("data/db.settle"))
            })
        (self.place, self.served, self.revisions) = (place, served, revisions)
        folder = place("local.settle")
        try remote.room.write("function (doc) { emit(doc.count, null); }\n", into: "files/views/by-count/map.js")
        try remote.room.write("a photo", to: "photo.txt")
        try remote.room.write("_id,name,count\ncsv,CSV,7\n", to: "rows.csv")
    }

    /// Makes the other folders, alike: with a document that the database has not, and another edit of one that it has.
    func makeOthers() throws {
        for name in ["near", "far"] {
            let database = try Database.create(place(name))
            defer { database.close() }
            for id in ["theirs", "bread"] as [DocumentID] {
                try database.save(Document(id: id, body: ["name": "Theirs"]), onConflict: .fail)
            }
        }
    }

    /// Documents of all kinds:
    ///
    ///     milk     three revisions and an attachment          old    deleted
    ///     bread    one revision                               a      two edits, one of them from a peer
    ///     …        more of them                               c      a deletion, and an edit from a peer
    private static func fill(_ database: Database) throws -> [String: String] {
        var revisions: [String: String] = [:]
        try database.setJournal(true)
        try database.setAttributesKeptOnDelete(["owner"])
        func save(_ id: DocumentID, _ bodies: [JSONObject]) throws -> Document {
            var document = Document(id: id)
            for (index, body) in bodies.enumerated() {
                document.setBody(try DocumentBody(.object(body)))
                document = try database.save(document, onConflict: .fail)
                revisions["\(id)\(index + 1)"] = document.revision?.description
            }
            revisions[id.string] = document.revision?.description
            return document
        }
        func receive(_ id: DocumentID, on parent: String?, _ body: JSONObject) throws {
            let parent = try #require(parent.flatMap { RevisionID($0) })
            let signatures = [RevisionSignature("b"), parent.signature].compactMap(\.self)
            try database.insertReplicated([
                ReplicatedRevision(
                    id: id, history: RevisionHistory(start: 2, signatures: signatures),
                    body: DocumentBody(.object(body)))
            ])
            revisions["\(id)2"] = "2-b"
        }
        var milk = try save("milk", [["name": "Milk", "count": 1], ["name": "Milk", "count": 2]])
        milk.attach(
            try database.makeAttachment("label.txt", contentType: "text/plain", content: Array("oats".utf8)))
        milk = try database.save(milk, onConflict: .fail)
        revisions["milk"] = milk.revision?.description
        _ = try save("bread", [["name": "Bread", "count": 4]])
        for number in 1...5 {
            _ = try save(DocumentID(unchecked: "n\(number)"), [["count": .number(JSONNumber(number))]])
        }
        try database.delete(try save("old", [["name": "Old", "owner": "me"]]))
        _ = try save("a", [["v": 1, "owner": "me"], ["v": 2, "owner": "me", "tags": ["x"]]])
        try receive("a", on: revisions["a1"], ["v": 3, "owner": "me"])
        _ = try save("b", [["v": 1], ["v": 2]])
        try receive("b", on: revisions["b1"], ["v": 1, "w": 9])
        let c = try save("c", [["v": 1, "owner": "me"], ["v": 2, "owner": "me"]])
        try database.delete(c)
        try receive("c", on: revisions["c1"], ["v": 3])
        _ = try save(
            "_design/shop",
            [["language": "javascript", "views": ["count": ["map": "function (doc) { emit(doc.count, doc.name) }"]]]])
        try database.createIndex(on: "count", name: "by-count", designDocument: "counts")
        try database.saveLocalDocument("_local/note", body: ["v": 1])
        return revisions
    }

    /// Runs a line: `DB` is the database, `NEW` one that is not there, `OTHER` another folder, `{milk}` a revision.
    func run(_ line: VerbCase.Line, _ side: Side) throws -> Room.Outcome {
        let words = line.words.map { word in
            switch word {
            case "DB": return side == .folder ? folder : remote.url()
            case "NEW": return side == .folder ? place("new") : remote.url("new")
            case "OTHER": return place(side == .folder ? "near" : "far")
            case "SERVER": return side == .folder ? place("data") : remote.url("")
            default:
                return revisions.reduce(word) { $0.replacing("{\($1.key)}", with: $1.value) }
            }
        }
        return try remote.run(all: words, input: line.input, environment: line.environment)
    }

    /// A text without what is not compared: times, and names of the two databases.
    func plain(_ text: String, _ line: VerbCase.Line) -> String {
        var text = text
        let names: [(String, [String])] = [
            ("DB", [remote.url("db", ""), folder]), ("NEW", [remote.url("new", ""), place("new")]),
            ("OTHER", [place("near"), place("far")]),
        ]
        for (name, places) in names { for place in places { text = text.replacing(place, with: name) } }
        let times: [(String, String)] = [
            (#""seconds":[0-9.e-]+"#, ""), (#"in [0-9.]+ (ms|s)\b"#, "in no time"), (#"[0-9,]+/s"#, ""),
            (#""signature":"[0-9a-f]+""#, ""), (#""timestamp":[0-9]+"#, ""), (#"[-0-9]{10} [:0-9]{8}"#, "THEN"),
            // The files of indexes grow by the order of work of a process.
            (#""size":[0-9]+"#, ""), (#"SIZE +"#, "SIZE "), (#"[0-9.]+ (KB|MB|bytes) *"#, ""), (#" +\n"#, "\n"),
        ]
        for (pattern, replacement) in times + (line.difference?.patterns ?? []) {
            text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
        }
        return text
    }

    /// What both databases have in the end: revisions with their marks, contents, local documents, settings, and the journal; or
    /// what was replicated.
    func stored(_ stored: VerbCase.Stored) throws -> (near: [String], far: [String]) {
        remote.server.stop()
        guard stored == .replicated else { return (try self.stored(in: folder), try self.stored(in: served)) }
        return (
            try replicated(in: folder) + replicated(in: place("near")),
            try replicated(in: served) + replicated(in: place("far"))
        )
    }

    private func replicated(in path: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let exported = try remote.run("export", path)
        #expect(exported.status == 0, "\(exported.errors)")
        let database = try Database.open(path)
        defer { database.close() }
        var lines = exported.lines
        try database.forEachChange(in: SequenceRange(), style: .allLeaves, includingDocuments: false) { change in
            lines.append("\(change.id) \(change.leaves)")
            for node in try database.tree(of: change.id)?.allNodes ?? [] {
                lines.append("  \(node.revision) \(node.isDeleted) \(node.marks.rawValue)")
            }
            return true
        }
        return lines.sorted()
    }

    private func stored(in path: String) throws -> [String] {
        let exported = try remote.run("export", path, "--local")
        let database = try Database.open(path)
        defer { database.close() }
        var lines = exported.lines
        try database.forEachChange(in: SequenceRange(), style: .allLeaves, includingDocuments: false) { change in
            lines.append("\(change.sequence.number) \(change.id) \(change.leaves)")
            for node in try database.tree(of: change.id)?.allNodes ?? [] {
                lines.append("  \(node.revision) \(node.isDeleted) \(node.marks.rawValue) \(node.isShared)")
            }
            return true
        }
        lines.append("\(try database.revisionLimit()) \(try database.attributesKeptOnDelete().sorted())")
        lines += try (database.journal?.newest(.max) ?? []).map {
            "\($0.number) \($0.operation) \($0.documentID) \(String(describing: $0.new?.body))"
        }
        return lines
    }
}
