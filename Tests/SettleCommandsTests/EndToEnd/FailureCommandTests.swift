import Foundation
import Settle
import SettleDatabase
import Testing

struct FailureCommandTests {
    let room: Room

    init() throws { room = try Room() }

    @Test func `a wrong command line ends with 2 and shows the correct use`() throws {
        let unknown = try room.run("creat", "x")
        #expect(unknown.status == 2 && unknown.output == "" && unknown.errors.contains("did you mean create?"))
        #expect(try room.run("get", "x").status == 2)
        #expect(try room.run("docs", "x", "--limit", "-3").status == 2)
        #expect(try room.run("put", "x", "a", "{}", "--force", "--rev", "1-a").status == 2)
        let alone = try room.run()
        #expect(alone.status == 2 && alone.errors.contains("Usage"))
    }

    @Test func `with --json an error is JSONValue too`() throws {
        let error = try room.run("get", "nowhere", "a", "--json")
        #expect(error.status == 3 && error.output == "")
        #expect(error.error["error"] == "not_found" && error.error["message"]?.string != nil)
        #expect(try room.run("get", "--json", "--nonsense").error["error"] == "usage")
    }

    @Test func `every command shows its help without a database`() throws {
        let overview = try room.run("--help")
        #expect(overview.status == 0 && overview.output.contains("Documents"))
        for verb in ["create", "import", "get", "help", "version"] {
            let help = try room.run(verb, "--help")
            #expect(help.status == 0 && help.output.contains("Examples"))
            #expect(try room.run("help", verb).output == help.output)
        }
        let version = try room.run("version", "--json").json
        #expect(version["version"] == "0.1.0")
        let commit = version["commit"]?.string.map { " (\($0))" } ?? ""
        #expect(try room.run("--version").line == "settle 0.1.0" + commit)
        #expect(try room.run("help", "exit-codes").output.contains("130"))
    }

    @Test func `an invalid argument ends with 5 and names the place`() throws {
        try room.run("create", "g")
        let broken = try room.run("put", "g", "a", "{\"a\":\n}")
        #expect(broken.status == 5 && broken.errors.contains("line 2, column 1"))
        #expect(try room.run("put", "g", "_a", "{}").status == 5)
        #expect(try room.run("put", "g", "a", #"{"_x":1}"#).status == 5)
        #expect(try room.run("put", "g", "a", #"{"_id":"b"}"#).status == 5)
        #expect(try room.run("get", "g", "a", "--rev", "x").status == 5)
    }

    @Test func `a damaged document ends with 7 and is named`() throws {
        try room.run("create", "g")
        try room.run("put", "g", "sound", "{}")
        try room.run("put", "g", "harmed", "{}")
        func damage() throws {
            let connection = try SQLiteConnection(path: room.path("g/database.sqlite"))
            try connection.execute("UPDATE documents SET tree = x'FF' WHERE id = CAST('harmed' AS BLOB)")
        }
        try damage()
        #expect(try room.run("get", "g", "sound").status == 0)
        for words in [["get", "g", "harmed"], ["put", "g", "harmed", "{}", "--force"], ["tree", "g", "harmed"]] {
            let damaged = try room.run(all: words + ["--json"])
            #expect(damaged.status == 7 && damaged.errors.contains("harmed"), "\(words): \(damaged.errors)")
        }
    }

    @Test func `a view whose script can't be compiled ends with 5`() throws {
        try room.run("create", "g")
        try room.run("put", "g", "a", "{}")
        let views = #"{"views":{"v":{"map":"function (doc) {"}},"language":"javascript"}"#
        try room.run("put", "g", "_design/bad", views)
        let failed = try room.run("query", "g", "bad/v")
        #expect(failed.status == 5 && !failed.errors.contains("try later"), "\(failed)")
    }

    @Test func `a database that another process has open ends with 6`() throws {
        let database = try Database.create(room.path("g.settle"))
        let started = ContinuousClock.now
        let refused = try room.run("info", "g", "--wait", "0")
        #expect(refused.status == 6, "\(refused)")
        #expect(try room.run("info", "g").status == 6)
        #expect(ContinuousClock.now - started >= .seconds(1))
        database.close()
        withExtendedLifetime(database) {}
    }

    @Test func `a file that is not a database ends with 7 and stays unchanged`() throws {
        try FileManager.default.createDirectory(atPath: room.path("g"), withIntermediateDirectories: true)
        let text = String(repeating: "not a database ", count: 20)
        try room.write(text, to: "g/database.sqlite")
        #expect(try room.run("info", "g").status == 7)
        #expect(try String(decoding: room.contents(of: "g/database.sqlite"), as: UTF8.self) == text)
    }

    @Test func `a failure of the system ends with 8`() throws {
        try room.run("create", "g")
        #expect(try room.run("export", "g", "no/such/folder/x").status == 8)
        #expect(try room.run("import", "g", "missing.jsonl").status == 3)
    }

    @Test func `a folder that can't be created is named with the cause and advice`() throws {
        try room.write("", to: "file")
        try room.run("create", "g")
        try room.run("put", "g", "_design/d", #"{"views":{}}"#)
        for words in [
            ["create", "file/x"], ["create", "file/x/y"], ["import", "file/x", "-"], ["serve", "--data", "file/x"],
            ["design", "pull", "g", "d", "file/x"], ["create", "/proc/x/y"],
        ] {
            let failed = try room.run(all: words)
            let given = words.first { $0.contains("file") } ?? "/proc/x"
            #expect(failed.status == 8 && failed.errors.contains(given), "\(words): \(failed)")
            #expect(failed.errors.contains("; ") && failed.errors.contains("choose another"), "\(failed.errors)")
            #expect(!failed.errors.contains("Domain") && !failed.errors.contains("Code="), "\(failed.errors)")
        }
        let served = try room.run("serve", "--data", "file")
        #expect(served.status == 7 && served.errors.contains("is a file") && served.errors.contains("choose another"))
        // The superuser may write anywhere.
        chmod(room.folder.path, 0o500)
        defer { chmod(room.folder.path, 0o700) }
        let refused = try getuid() == 0 ? nil : room.run("create", "new")
        #expect(refused.map { $0.status == 8 && $0.errors.contains("Permission denied") } != false)
    }

    @Test func `the extension of a name is added only where no file has the name`() throws {
        #expect(try room.run("create", "g").status == 0)
        #expect(try room.run("create", "g").status == 4)
        #expect(try room.run("create", "g.settle").status == 0)
        try room.run("put", "g", "a", "{}")
        #expect(try room.run("info", "g", "--json").json["doc_count"] == 1)
        #expect(try room.run("info", "g.settle", "--json").json["doc_count"] == 0)
        #expect(try room.run("create", "h.settle", "--quiet").output == "")
        #expect(try room.run("info", "h/").status == 0)
    }

    @Test func `damage is reported with 7`() throws {
        try room.run("create", "g")
        for number in 0..<200 {
            try room.write(
                "{\"_id\":\"\(number)\",\"text\":\"\(String(repeating: "x", count: 500))\"}\n", to: "l.jsonl")
            if number % 50 == 0 { try room.run("import", "g", "l.jsonl") }
        }
        var bytes = try room.contents(of: "g/database.sqlite")
        for index in stride(from: 4096 + 200, to: bytes.count, by: 97) { bytes[index] ^= 0x55 }
        try bytes.write(to: room.folder.appending(path: "g/database.sqlite"))
        let report = try room.run("verify", "g")
        #expect(report.status == 7 && report.errors != "")
    }
}
