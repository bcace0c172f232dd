import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleCommands

struct ShellCommandTests {
    private let script = """
        # The database is not named again.
        put milk '{"name": "Milk", "count": 1}'
        put "oat milk" {\\"count\\":2}

        get milk
        index create count   # an index
        find 'count > 1' --json --fields _id,count
        frobnicate
        get none
        docs
        exit
        put never '{}'

        """

    private func check(_ database: String, _ room: RemoteRoom) throws {
        let outcome = try room.run("shell", database, input: script)
        #expect(outcome.status == 3, "\(outcome)")
        #expect(outcome.errors.contains("there is no command \"frobnicate\"") && outcome.errors.contains("none"))
        #expect(outcome.output.contains(#"{"_id":"oat milk","count":2}"#), "\(outcome.output)")
        #expect(outcome.lines.suffix(2).map { $0.prefix(4) } == ["milk", "oat "] || outcome.output.contains("_design"))
        #expect(!outcome.output.contains("> ") && !outcome.output.contains("never"))
        #expect(try room.run("get", database, "never").status == 3)
    }

    @Test func `a script runs on a folder and on a server, and its status is that of the last failing line`() throws {
        let room = try RemoteRoom()
        for database in ["db", room.url()] {
            try room.run("create", database)
            try check(database, room)
        }
        #expect(try room.run("shell", "db", input: "get none\ndocs\n").status == 3)
        #expect(try room.run("shell", "db", input: "docs").status == 0)
        #expect(try room.run("shell", "db", input: "docs 'a\n").errors.contains("the quote ' is not closed"))
        #expect(try room.run("shell", "none", input: "docs\n").status == 3)
        #expect(try room.run("shell", "db", input: "shell\n").status == 2)
    }

    @Test func `options of the shell hold for its lines, and the folder stays open between them`() async throws {
        let room = try RemoteRoom()
        try room.run("create", "db")
        let lines = "log --on\nput a '{}'\nlog\nsync \(room.url()) --create\nsync db\nget a\nlog\n"
        let outcome = try room.run("shell", "db", "--json", input: lines)
        #expect(outcome.lines.allSatisfy { (try? JSONValue(parsing: $0)) != nil }, "\(outcome.output)")
        #expect(outcome.errors.contains("both are the same database"), "\(outcome)")
        #expect(outcome.output.contains(#"{"_id":"a","#), "\(outcome)")

        let pipe = Pipe()
        let process = try room.room.start(["shell", "db"], "one", input: pipe)
        try pipe.fileHandleForWriting.write(contentsOf: Data("docs\n".utf8))
        await eventually("there is output") { try !room.output("one").isEmpty }
        #expect(try room.run("info", "db", "--wait", "0").status == 6)
        try pipe.fileHandleForWriting.close()
        let status = process.waitForEnd()
        #expect(status == 0)
        #expect(try room.run("info", "db", "--wait", "0").status == 0)
    }

    @Test func `a line about all folders or with an option of the shell leaves the shell as it was`() throws {
        let room = try RemoteRoom()
        for name in ["db", "other"] { try room.run("create", name) }
        let lines = "put a '{}'\ndatabases\ndiff db\ndocs -q\ndocs --quiet\nget a\n"
        let outcome = try room.run("shell", "db", "--quiet", input: lines)
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.contains("other") && outcome.lines.last?.contains(#""_id":"a""#) == true, "\(outcome)")
        try room.run("create", room.url())
        let user = try room.run(
            "shell", room.url("db", ""), "--user", "admin", input: "info --user=admin\n",
            environment: ["SETTLE_PASSWORD": "secret-word"])
        #expect(user.status == 0, "\(user)")
    }

    @Test func `a backup and a renewal of the folder leave the database of the shell open`() throws {
        let room = try RemoteRoom()
        try room.room.write("", into: "data/.keep")
        for name in ["notes", "other"] { try room.run("create", "data/\(name).settle") }
        try room.run("put", "data/notes.settle", "milk", "{}")
        for line in ["backup data bk", "renew data", "renew data/notes.settle"] {
            let outcome = try room.run("shell", "data/notes.settle", input: "\(line)\ndocs\n")
            #expect(outcome.status == 0 && outcome.errors == "", "\(line): \(outcome)")
            #expect(outcome.lines.last?.hasPrefix("milk") == true, "\(line): \(outcome)")
        }
    }

    @Test(arguments: [
        ("a  b\tc", ["a", "b", "c"]), (#"'a b' "c\"d\e" f\ g"#, ["a b", #"c"d\e"#, "f g"]), ("a # b", ["a"]),
        ("a#b ''", ["a#b", ""]), ("x='1 2'y", ["x=1 2y"]), ("", []),
    ])
    func `a line is split as a shell splits it`(line: String, words: [String]) throws {
        #expect(try ShellWords.split(line) == words)
    }

    @Test(arguments: ["'a", "\"a", #"a\"#])
    func `a line without its end is refused`(line: String) {
        #expect(throws: CommandError.self) { try ShellWords.split(line) }
    }
}
