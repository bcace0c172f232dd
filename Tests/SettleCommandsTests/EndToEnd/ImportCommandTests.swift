import Foundation
import Settle
import SettlePlatform
import Testing

/// Dumps and files of other products in the tool.
struct ImportCommandTests {
    let room: Room

    init() throws { room = try Room() }

    private static let backup = """
        {"name":"@cloudant/couchbackup","version":"2.9.10","mode":"full"}
        [{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"v":1},{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"v":2}]
        [{"_id":"d","_rev":"2-d","_deleted":true,"_revisions":{"start":2,"ids":["d","a"]}}]

        """

    @Test(arguments: [
        ("hello", "line 1 begins with \"h\""), ("{\"_id\":\"a\" \"x\"}", "line 1, column 12"),
        ("\u{0}\u{1}\u{2}\u{3}", "a binary file"),
        ("{\"rows\":[{\"id\":\"a\",\"key\":\"a\",\"value\":{}}]}", "include_docs=true"), ("a,a\n1,2\n", "is not JSON"),
    ])
    func `what can't be imported is refused once, and nothing is created`(text: String, complaint: String) throws {
        try room.write(text, to: "in")
        for words in [["import", "db", "in"], ["import", "db", "-"], ["inspect", "in"]] {
            let outcome = try room.run(all: words, input: text)
            #expect(outcome.status == 5 && outcome.output == "", "\(words): \(outcome)")
            #expect(outcome.errors.contains(complaint) && outcome.errors.filter { $0 == "\n" }.count == 1, "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: room.path("db")))
        }
        let json = try room.run("import", "db", "in", "--json")
        #expect(json.error["error"]?.string != nil && json.status == 5)
    }

    @Test func `bytes of an SQLite file are refused, damaged or without a path`() throws {
        let text = "SQLite format 3\0\u{1}"
        try room.write(text, to: "in")
        let file = try room.run("import", "db", "in")
        #expect(file.status == 5 && file.errors == "settle: in is damaged: file is not a database\n", "\(file)")
        let bytes = try room.run("import", "db", "-", input: text)
        #expect(bytes.status == 5 && bytes.errors.contains("it is an SQLite database: give its path"), "\(bytes)")
        #expect(!FileManager.default.fileExists(atPath: room.path("db")))
    }

    @Test func `a backup is inspected, imported, and imported again`() throws {
        try room.write(Self.backup, to: "backup.txt")
        let inspected = try room.run("inspect", "backup.txt")
        #expect(inspected.status == 0 && inspected.output.contains("couchbackup 2.9.10, full"), "\(inspected)")
        #expect(try room.run("inspect", "backup.txt", "--json").json["leaves"] == 3)
        #expect(try room.run("import", "db", "backup.txt", "--dry-run").output.contains("Holds"))
        #expect(!FileManager.default.fileExists(atPath: room.path("db")))
        let first = try room.run("import", "db", "backup.txt", "--json")
        #expect(first.status == 0 && first.json["imported"] == 3 && first.json["kind"] == "couchbackup", "\(first)")
        #expect(try room.run("conflicts", "db", "--json").lines.count == 1)
        let again = try room.run("import", "db", "backup.txt", "--json")
        #expect(again.json["known"] == 3 && again.json["imported"] == 0)
        #expect(try room.run("import", "db", "backup.txt", "--from", "firestore").status == 5)
        #expect(try room.run("import", "db", "backup.txt", "--from", "nonsense").status == 2)
        #expect(try room.run("import", "db", "none.txt").status == 3)
    }

    @Test func `gzip and UTF-16 are read from files and from standard input`() throws {
        let zipped = try Deflate.compress(Array(Self.backup.utf8), .gzip)
        try Data(zipped).write(to: room.folder.appending(path: "backup.gz"))
        #expect(try room.run("import", "zipped", "backup.gz", "--json").json["imported"] == 3)
        let table: [UInt8] = [0xFF, 0xFE] + "_id;n\r1;2\r".utf8.flatMap { [$0, 0] as [UInt8] }
        try Data(table)
            .write(to: room.folder.appending(path: "t.csv"))
        #expect(try room.run("import", "table", "t.csv", "--json").json["imported"] == 1)
        #expect(try room.run("get", "table", "1").json["n"] == 2)
    }

    @Test(arguments: ["t.csv", "t.tsv", "t.tab", "t.tab.gz"])
    func `a table from a pipe has all its rows, whatever its name`(name: String) throws {
        let separator = name.hasSuffix("csv") ? "," : "\t"
        let text = Array("_id\(separator)n\na\(separator)1\nb\(separator)2\n".utf8)
        try FileManager.default.createSymbolicLink(atPath: room.path(name), withDestinationPath: "/dev/stdin")
        let pipe = Pipe()
        let process = try room.start(["import", "db", name, "--json"], "piped", input: pipe)
        let bytes = name.hasSuffix("gz") ? try Deflate.compress(text, .gzip) : text
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        let outcome = try room.outcome(process, "piped")
        #expect(outcome.status == 0 && outcome.json["imported"] == 2, "\(outcome)")
        #expect(try room.run("get", "db", "b").json["n"] == 2)
    }

    @Test func `an older table needs its encoding, and names with blanks are quoted in conditions`() throws {
        try Data(Array("_id\tUnit Price\n1\t2\n2\tM".utf8) + [0xFC, 0x0A]).write(
            to: room.folder.appending(path: "t.tsv"))
        let refused = try room.run("import", "db", "t.tsv")
        #expect(refused.status == 5 && refused.errors.contains("the encoding windows-1252"), "\(refused)")
        #expect(try room.run("import", "db", "t.tsv", "--encoding", "windows-1252").status == 0)
        #expect(try room.run("get", "db", "2").json["Unit Price"] == "Mü")
        let found = try room.run("find", "db", "\"Unit Price\" = '2'", "--json")
        #expect(found.lines.count == 1 && found.status == 0, "\(found)")
    }

    @Test(arguments: [
        ["--keep-winner"], ["--collection", "Shop.Orders"], ["--all-collections"], ["--csv", "--from", "json"],
        ["--unsynced"], ["--synced-with", "http://couch.example/db"],
    ])
    func `options of another kind of input are refused, and nothing is created`(words: [String]) throws {
        try room.write(Self.backup, to: "backup.txt")
        let outcome = try room.run(all: ["import", "db", "backup.txt"] + words)
        #expect(outcome.status == 2 && outcome.errors.contains(words[0]), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: room.path("db")))
    }

    @Test func `a dry run finds what the import with the same options finds`() throws {
        try room.write("{\"mail\":\"a@b\"}\n{\"n\":1}\n", to: "people.jsonl")
        let outcome = try room.run("import", "db", "people.jsonl", "--id", "mail", "--dry-run", "--json")
        #expect(outcome.status == 1 && outcome.json["leaves"] == 1, "\(outcome)")
        #expect(outcome.json["lost_revisions"] == 1 && outcome.output.contains("neither _id nor the member"))
        #expect(try room.run("import", "db", "people.jsonl", "--id", "mail").status == 1)
    }

    @Test func `a document whose attachment has no content is stored, and the exit code says so`() throws {
        let text =
            #"{"rows":[{"id":"a","key":"a","value":{},"doc":{"_id":"a","_rev":"1-a","_attachments":{"t":{"stub":true,"digest":"md5-x","length":1}}}}]}"#
        let outcome = try room.run("import", "db", "-", "--json", input: text)
        #expect(outcome.status == 1 && outcome.json["imported"] == 1 && outcome.json["lost_attachments"] == 1)
        #expect(outcome.error["id"] == "a", "\(outcome)")
        #expect(try room.run("import", "strict", "-", "--strict", input: text).status == 1)
        #expect(try room.run("docs", "strict").output == "")
    }

    @Test(arguments: ["couchbackup", "pouchdb", "ndjson"])
    func `an export in each form is imported into an equal database`(form: String) throws {
        try room.makeConflicts()
        let outcome = try room.run("export", "a", "dump", "--as", form)
        #expect(outcome.status == 0, "\(outcome)")
        let known = try room.run("inspect", "dump", "--json").json["kind"]
        #expect(known == (form == "ndjson" ? "json" : .string(form)))
        #expect(try room.run("import", "copy", "dump").status == 0)
        #expect(try room.leaves("copy") == room.leaves("a"))
        #expect(
            try room.run("get", "copy", "milk", "--attachment", "oats.txt").output
                == room.run("get", "a", "milk", "--attachment", "oats.txt").output)
        #expect(try room.run("sync", "copy", "a", "--json").json["sent"]?["revisions"] == 0)
    }

    @Test func `a table in the form csv, and options that don't fit`() throws {
        try room.run("put", "a", "x", #"{"n":1}"#)
        try room.run("create", "a")
        try room.run("put", "a", "x", #"{"n":1}"#)
        #expect(try room.run("export", "a", "--as", "csv", "--fields", "_id,n").output == "_id,n\nx,1\n")
        #expect(try room.run("export", "a", "--as", "pouchdb", "--local").status == 2)
        #expect(try room.run("export", "a", "--as", "word").status == 2)
    }

    @Test func `options of other products' JSON are for that JSON alone`() throws {
        let mongo = #"{"_id":42,"b":{"$binary":{"base64":"\#(String(repeating: "AAAA", count: 400))","subType":"00"}}}"#
        let realm = #"{"Dog":[{"_id":1}],"Cat":[{"_id":1,"name":"Mia"}]}"#
        try room.write(mongo + "\n", to: "mongo.json")
        try room.write(realm, to: "realm.json")
        let outcome = try room.run("import", "m", "mongo.json", "--keep-id", "key", "--binary", "attachments", "--json")
        #expect(outcome.status == 0 && outcome.json["kind"] == "mongo", "\(outcome)")
        #expect(try room.run("get", "m", "42").json["key"] == 42)
        #expect(try room.run("get", "m", "42", "--attachment", "b", "-o", "b").status == 0)
        #expect(try room.contents(of: "b") == Data(repeating: 0, count: 1200))
        #expect(try room.run("import", "r", "realm.json", "--from", "realm", "--type-member", "class").status == 0)
        #expect(try room.run("get", "r", "Cat/1").json["class"] == "Cat")
        #expect(try room.run("inspect", "realm.json", "--from", "realm", "--json").json["leaves"] == 2)
        for words in [
            ["realm.json", "--from", "realm", "--keep-id", "k"], ["mongo.json", "--type-member", "t"],
            ["realm.json", "--from", "realm", "--type-member", "_t"], ["mongo.json", "--binary", "maybe"],
            ["mongo.json", "--keep-id", ""],
        ] {
            let refused = try room.run(all: ["import", "none", words[0]] + words.dropFirst())
            #expect(refused.status == 2, "\(words): \(refused)")
        }
        #expect(!FileManager.default.fileExists(atPath: room.path("none")))
    }

    // MARK: Collections

    /// The path of a file of another product, where such files lie beside the repository.
    static func fixture(_ path: String) -> String? {
        var root = URL(filePath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let place = root.appending(path: "shared/files/\(path)").path
        return FileManager.default.fileExists(atPath: place) ? place : nil
    }

    static let collections = fixture("cblite2-made/tree.cblite2")

    @Test(.enabled(if: collections != nil))
    func `collections go into the databases that a server serves them from`() throws {
        let file = try #require(Self.collections)
        let outcome = try room.run("import", "shop", file, "--all-collections", "--json")
        #expect(outcome.status == 0 && outcome.lines.count == 3, "\(outcome)")
        for name in ["shop", "shop+$shop+$orders", "shop+_default+notes"] {
            #expect(try room.run("info", name).status == 0, "\(name)")
        }
        #expect(try room.run("import", "one", file, "--collection", "Shop.Orders", "--json").lines.count == 1)
        for words in [["--id", "n"], ["--on-conflict", "skip"], ["--batch", "7"], ["--stop-on-error"]] {
            #expect(try room.run(all: ["import", "two", file] + words).status == 2, "\(words)")
        }
        #expect(try room.leaves("one") == room.leaves("shop+$shop+$orders"))
    }

    @Test(.enabled(if: collections != nil)) func `only what was not pushed is imported on request`() throws {
        let file = try #require(Self.collections)
        let dry = try room.run("import", "shop", file, "--unsynced", "--dry-run", "--json")
        let first = try JSONValue(parsing: try #require(dry.lines.first))
        let outcome = try room.run("import", "shop", file, "--unsynced", "--json")
        let pushed = try #require(outcome.json["pushed"]?.int)
        #expect(outcome.status == 0 && pushed > 0 && first["pushed"]?.int == pushed, "\(outcome)")
        #expect(try room.run("get", "shop", "after-sync").status == 0)
        #expect(try room.run("get", "shop", "plain-0").status == 3)
        #expect(try room.run("import", "shop", file, "--synced-with", "http://couch.example/db").status == 2)
        #expect(try room.run("import", "shop", file, "--unsynced", "--synced-with", "couch").status == 2)
    }
}
