import Foundation
import Settle
import Testing

struct DocumentCommandTests {
    let room: Room

    init() throws {
        room = try Room()
        #expect(try room.run("create", "g.settle").line == "Created g.settle")
    }

    @Test func `put prints only the revision, and get prints the document`() throws {
        let put = try room.run("put", "g", "milk", #"{"name":"Milk","count":1}"#)
        #expect(put.status == 0 && put.errors == "")
        let revision = try #require(RevisionID(put.line))
        #expect(revision.generation == 1)
        let get = try room.run("get", "g", "milk")
        #expect(get.line == #"{"_id":"milk","_rev":"\#(revision)","name":"Milk","count":1}"#)
    }

    @Test func `a document passes through get and put as a file or by standard input`() throws {
        try room.run("put", "g", "a", "-", input: #"{ "v" : 1 }"#)
        let first = try room.run("get", "g", "a").output
        try room.write(first.replacing("1}", with: "2}"), to: "a.json")
        #expect(try room.run("put", "g", "a", "@a.json").line.hasPrefix("2-"))
        #expect(try room.run("put", "g", "a", input: first).status == 4)
        #expect(try room.run("get", "g", "a").json["v"] == 2)
    }

    @Test func `an edit needs the current revision`() throws {
        let first = try room.run("put", "g", "a", #"{"v":1}"#).line
        let blind = try room.run("put", "g", "a", #"{"v":2}"#)
        #expect(blind.status == 4 && blind.output == "" && blind.errors.contains("--rev \(first)"))
        let second = try room.run("put", "g", "a", #"{"v":2}"#, "--rev", first)
        #expect(second.status == 0)
        #expect(try room.run("put", "g", "a", #"{"v":3}"#, "--rev", first).status == 4)
        #expect(try room.run("put", "g", "a", #"{"v":4}"#, "--force").line.hasPrefix("3-"))
        #expect(try room.run("get", "g", "a", "--rev", first).json["v"] == 1)
        let history = try room.run("get", "g", "a", "--revs").json["_revisions"]
        #expect(history?["start"] == 3 && history?["ids"]?.array?.count == 3)
    }

    @Test func `a branch is created on request and both edits are kept`() throws {
        let first = try room.run("put", "g", "a", #"{"v":1}"#).line
        let second = try room.run("put", "g", "a", #"{"v":2}"#, "--rev", first).line
        let other = try room.run("put", "g", "a", #"{"v":3}"#, "--rev", first, "--allow-conflict").line
        let tree = try room.run("tree", "g", "a", "--json").json
        let leaves = [tree["winner"]?.string, tree["conflicts"]?[0]?.string]
        #expect(Set(leaves) == [second, other])
        #expect(tree["revisions"]?.array?.map { $0["parent"] ?? .null } == [.null, .string(first), .string(first)])
        #expect(try room.run("docs", "g", "--conflicts").lines.count == 1)
        let shown = try room.run("get", "g", "a", "--conflicts").json["_conflicts"]?[0]?.string
        #expect(leaves.contains(shown))
        let drawn = try room.run("tree", "g", "a").output
        #expect(drawn.contains("├─● \(leaves[0] ?? "")  winner") && drawn.contains("└─● \(leaves[1] ?? "")  conflict"))
        #expect(!drawn.contains("\u{1B}"))
        // The same edit made the usual way has the same id.
        let twin = try Room()
        try twin.run("create", "t")
        try twin.run("put", "t", "a", #"{"v":1}"#)
        #expect(try twin.run("put", "t", "a", #"{"v":3}"#, "--rev", first).line == other)
        #expect(try room.run("verify", "g").status == 0)
    }

    @Test func `a deleted document leaves a tombstone with the members given to keep`() throws {
        let first = try room.run("put", "g", "a", #"{"owner":"me","v":1}"#).line
        #expect(try room.run("delete", "g", "a").status == 4)
        let tombstone = try room.run("delete", "g", "a", "--rev", first, "--keep", "owner").line
        #expect(tombstone.hasPrefix("2-"))
        let gone = try room.run("get", "g", "a")
        #expect(gone.status == 3 && gone.errors.contains(tombstone))
        let stored = try room.run("get", "g", "a", "--rev", tombstone).json
        #expect(stored["_deleted"] == true && stored["owner"] == "me" && stored["v"] == nil)
        #expect(try room.run("docs", "g").output == "")
        #expect(try room.run("docs", "g", "--deleted", "--json").json["deleted"] == true)
        #expect(try room.run("put", "g", "a", "{}").line.hasPrefix("3-"))
    }

    @Test func `docs lists ids in ranges and bodies on request`() throws {
        for id in ["a", "b1", "b2", "b3", "c"] { try room.run("put", "g", id, #"{"v":1}"#) }
        func ids(_ words: String...) throws -> [String] {
            try room.run(all: ["docs", "g", "--json"] + words).lines.compactMap {
                try JSONValue(parsing: $0)["id"]?.string
            }
        }
        #expect(try ids() == ["a", "b1", "b2", "b3", "c"])
        #expect(try ids("--prefix", "b") == ["b1", "b2", "b3"])
        #expect(try ids("--prefix", "b", "--descending", "--limit", "2") == ["b3", "b2"])
        #expect(try ids("--from", "b2") == ["b2", "b3", "c"])
        #expect(try ids("--from", "b2", "--descending") == ["b2", "b1", "a"])
        #expect(try ids("--limit", "0") == [])
        let bodies = try room.run("docs", "g", "--bodies", "--limit", "1").json
        #expect(bodies["_id"] == "a" && bodies["v"] == 1)
    }

    @Test func `an attachment of 150 MB is written and read in 60 MB of memory`() throws {
        let room = try Room()
        try room.run("create", "g")
        let size: UInt64 = 150 << 20
        try room.write("", to: "big")
        let file = try FileHandle(forWritingTo: room.folder.appending(path: "big"))
        try file.truncate(atOffset: size)
        try file.close()
        let added = try room.run(all: ["attach", "g", "a", "big"], memory: 60_000)
        #expect(added.status == 0, "\(added.errors)")
        let read = try room.run(all: ["get", "g", "a", "--attachment", "big", "-o", "out"], memory: 60_000)
        #expect(read.status == 0, "\(read.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: room.path("out"))
        #expect(attributes[.size] as? UInt64 == size)
    }

    @Test func `a file of 96 MB is compacted in 60 MB of memory`() throws {
        let room = try Room()
        let database = try Database.create(room.path("g"))
        let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
        for number in 0..<96 {
            try database.save(
                Document(id: DocumentID(validating: "d\(number)"), body: DocumentBody(["t": text])), onConflict: .fail)
        }
        database.close()
        let compacted = try room.run(all: ["compact", "g"], memory: 60_000)
        #expect(compacted.status == 0, "\(compacted.errors)")
        #expect(try room.run("docs", "g").lines.count == 96)
    }

    @Test func `attachments are written and read`() throws {
        try room.write("hello", to: "h.txt")
        let added = try room.run("attach", "g", "a", "h.txt")
        #expect(added.status == 0 && added.line.hasPrefix("1-"))
        let stub = try room.run("get", "g", "a").json["_attachments"]?["h.txt"]
        #expect(stub?["content_type"] == "text/plain" && stub?["length"] == 5 && stub?["stub"] == true)
        #expect(try room.run("get", "g", "a", "--attachment", "h.txt").output == "hello")
        try room.run("get", "g", "a", "--attachment", "h.txt", "-o", "out.txt")
        #expect(try room.contents(of: "out.txt") == room.contents(of: "h.txt"))
        let inline = try room.run("get", "g", "a", "--attachments").json["_attachments"]?["h.txt"]?["data"]
        #expect(inline == "aGVsbG8=")
        // An edit of the members leaves attachments alone.
        try room.run("put", "g", "a", #"{"v":1}"#, "--rev", added.line)
        #expect(try room.run("get", "g", "a", "--attachment", "h.txt").output == "hello")
        #expect(try room.run("attach", "g", "a", "-", "--name", "x.bin", input: "xyz").status == 0)
        #expect(try room.run("detach", "g", "a", "h.txt").status == 0)
        let missing = try room.run("get", "g", "a", "--attachment", "h.txt")
        #expect(missing.status == 3 && missing.errors.contains("x.bin"))
        // One that lists none removes them.
        #expect(try room.run("put", "g", "a", #"{"v":2,"_attachments":{}}"#, "--force").status == 0)
        #expect(try room.run("get", "g", "a").json["_attachments"] == nil)
        #expect(try room.run("verify", "g", "--json").json["ok"] == true)
    }

    @Test func `local documents are absent from lists and changes`() throws {
        #expect(try room.run("put", "g", "_local/x", #"{"v":1}"#).line == "0-1")
        #expect(try room.run("get", "g", "_local/x").line == #"{"_id":"_local/x","_rev":"0-1","v":1}"#)
        #expect(try room.run("changes", "g").output == "")
        #expect(try room.run("delete", "g", "_local/x").status == 0)
        #expect(try room.run("get", "g", "_local/x").status == 3)
    }

    @Test func `of a local document the last write wins, and options that mean nothing for it are refused`() throws {
        let first = try room.run("put", "g", "_local/x", #"{"v":1}"#).line
        for words in [["--rev", first], ["--force"], ["--rev", "1-a", "--allow-conflict"]] {
            let put = try room.run(all: ["put", "g", "_local/x", #"{"v":2}"#] + words)
            #expect(put.status == 2 && put.errors.contains("leave out \(words[0])"), "\(put)")
        }
        for words in [["--rev", first], ["--force"], ["--keep", "v"]] {
            let deleted = try room.run(all: ["delete", "g", "_local/x"] + words)
            #expect(deleted.status == 2 && deleted.errors.contains("leave out \(words[0])"), "\(deleted)")
        }
        let read = try room.run("get", "g", "_local/x").output
        #expect(try room.run("put", "g", "_local/x", #"{"v":2}"#).line == "0-2")
        #expect(try room.run("put", "g", "_local/x", input: read).line == "0-3")
        #expect(try room.run("get", "g", "_local/x").json["v"] == 1)
    }

    @Test func `a local document is written to a file, and has no other revisions and no attachments`() throws {
        try room.run("put", "g", "_local/x", #"{"v":1}"#)
        let shown = try room.run("get", "g", "_local/x").output
        #expect(try room.run("get", "g", "_local/x", "-o", "x.json").output == "")
        #expect(String(decoding: try room.contents(of: "x.json"), as: UTF8.self) == shown)
        for words in [["--rev", "0-1"], ["--revs"], ["--conflicts"], ["--attachments"], ["--attachment", "a"]] {
            let refused = try room.run(all: ["get", "g", "_local/x"] + words)
            #expect(refused.status == 2 && refused.errors.contains("leave out \(words[0])"), "\(refused)")
        }
    }

    @Test func `changes are listed in order`() throws {
        let a = try room.run("put", "g", "a", #"{"v":1}"#).line
        try room.run("put", "g", "b", "{}")
        let gone = try room.run("delete", "g", "a", "--rev", a).line
        let lines = try room.run("changes", "g", "--docs", "--json").lines.map { try JSONValue(parsing: $0) }
        #expect(lines.map { $0["id"] } == ["b", "a"])
        #expect(lines[1]["deleted"] == true && lines[1]["changes"]?[0]?["rev"] == .string(gone))
        #expect(lines[0]["doc"]?["_id"] == "b")
        #expect(try room.run("changes", "g", "--since", "2").lines.count == 1)
        #expect(try room.run("changes", "g", "--since", "2", "--descending").lines.count == 1)
        #expect(try room.run("changes", "g", "--descending", "--limit", "1").output.hasSuffix("  \(gone)  deleted\n"))
    }

    @Test func `a purged document leaves no trace`() throws {
        let revision = try room.run("put", "g", "a", "{}").line
        #expect(try room.run("purge", "g", "a", "--json").json["purged"] == [.string(revision)])
        #expect(try room.run("get", "g", "a").status == 3)
        #expect(try room.run("purge", "g", "a").status == 3)
    }

    @Test func `a revision that can't be purged is named, and the others are purged`() throws {
        let first = try room.run("put", "g", "a", #"{"v":1}"#).line
        let second = try room.run("put", "g", "a", #"{"v":2}"#, "--rev", first).line
        let other = try room.run("put", "g", "a", #"{"v":3}"#, "--rev", first, "--allow-conflict").line
        let none = try room.run("purge", "g", "a", "--rev", "2-a")
        #expect(none.status == 3 && none.output == "")
        let some = try room.run("purge", "g", "a", "--rev", other, "--rev", "2-a", "--json")
        #expect(some.status == 1 && some.json["ok"] == false && some.json["purged"] == [.string(other)], "\(some)")
        #expect(some.json["missing"] == ["2-a"] && some.error["rev"] == "2-a", "\(some)")
        #expect(try room.run("get", "g", "a").json["v"] == 2)
        let rest = try room.run("purge", "g", "a", "--rev", first, "--rev", second)
        #expect(rest.status == 1 && rest.line == "purged \(second)", "\(rest)")
        #expect(rest.errors.contains("\(first) is not a leaf of \"a\""), "\(rest.errors)")
    }
}
