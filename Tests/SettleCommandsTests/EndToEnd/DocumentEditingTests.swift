import Foundation
import Settle
import SettleTesting
import Testing

/// `settle edit`, with scripts as the editor, which have the file's path as `$1`.
@Suite(.timeLimit(.minutes(5))) struct DocumentEditingTests {
    let room: Room
    private let tool: String

    init() throws {
        room = try Room()
        tool = try Room.tool().path
        try room.run("create", "db")
        try room.run("put", "db", "milk", #"{"name":"Milk","count":1,"price":1.50}"#)
    }

    private func edit(_ script: String, _ words: String..., id: String = "milk") throws -> Room.Outcome {
        try room.write(script, to: "editor.sh")
        return try room.run(all: ["edit", "db", id] + words, environment: environment)
    }

    private var environment: [String: String] {
        ["VISUAL": "", "EDITOR": "sh editor.sh", "TMPDIR": room.folder.path]
    }

    /// A script that runs the first time it is called, and another one later.
    private func first(_ script: String, then other: String = "true") -> String {
        "if [ -e ran ]; then \(other); else touch ran; \(script); fi"
    }

    private var keptFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: room.folder.path).filter { $0.hasPrefix("settle-") }
        }
    }

    @Test func `an edited text is stored, numbers as they were spelled`() throws {
        let outcome = try edit(#"cat "$1" >seen; sed -i.old 's/"count": 1/"count": 2/' "$1"; rm "$1.old""#, "--json")
        #expect(outcome.status == 0 && outcome.json["changed"] == true && outcome.json["merged"] == [], "\(outcome)")
        #expect(try room.run("get", "db", "milk").output.contains(#""count":2,"price":1.50}"#))
        let seen = String(decoding: try room.contents(of: "seen"), as: UTF8.self)
        #expect(seen.hasPrefix("{\n  \"name\": \"Milk\",\n  \"count\": 1,\n") && !seen.contains("_rev"))
        #expect(try keptFiles == [])
    }

    @Test func `an unchanged text stores nothing, and a new document begins empty`() throws {
        let before = try room.run("get", "db", "milk").output
        #expect(try edit("true").line == "Nothing was changed")
        #expect(try edit("true", "--json").json["changed"] == false)
        #expect(try edit("true", "--json", id: "new").json["rev"] == nil)
        #expect(try room.run("get", "db", "milk").output == before)
        #expect(try edit(#"cat "$1" >seen; echo '{"v":1}' >"$1""#, id: "new").line.hasPrefix("1-"))
        #expect(String(decoding: try room.contents(of: "seen"), as: UTF8.self).hasPrefix("{}\n"))
        #expect(try room.run("get", "db", "new").json["v"] == 1)
        let emptied = try edit(": >\"$1\"")
        #expect(emptied.status == 1 && emptied.errors.contains("the text is empty"))
        let failed = try edit("exit 3")
        #expect(failed.status == 1 && failed.errors.contains("the editor `sh editor.sh` failed"))
        #expect(!failed.errors.contains("kept"))
        #expect(try edit("true", id: "_local/x").status == 2)
    }

    @Test func `an edit of other members meanwhile is merged without a question`() throws {
        let other = #"{"name":"Oat milk","count":1,"price":1.50,"note":"?"}"#
        let outcome = try edit(
            first(
                "'\(tool)' put db milk '\(other)' --force >/dev/null; sed -i.old 's/: 1,/: 5,/' \"$1\"; rm \"$1.old\""),
            "--json")
        #expect(outcome.status == 0 && outcome.json["merged"]?.array?.count == 1, "\(outcome)")
        let milk = try room.run("get", "db", "milk").json
        #expect(milk["name"] == "Oat milk" && milk["count"] == 5 && milk["note"] == "?")
        #expect(outcome.json["rev"]?.string?.hasPrefix("3-") == true)
    }

    @Test func `a member that both changed is shown with both values, and the editor opens again`() throws {
        let change = "'\(tool)' put db milk '{\"name\":\"Oat milk\",\"count\":7}' --force >/dev/null"
        let mine = #"sed -i.old 's/: 1,/: 5,/' "$1"; rm "$1.old""#
        let outcome = try edit(
            first("\(change); \(mine)", then: #"cat "$1" >seen; sed -i.old 's/: 5/: 12/' "$1"; rm "$1.old""#))
        #expect(outcome.status == 0 && outcome.errors.contains("/count: 1, yours 5, stored 7"), "\(outcome)")
        let seen = String(decoding: try room.contents(of: "seen"), as: UTF8.self)
        #expect(seen.hasPrefix("{\n  \"name\": \"Oat milk\",\n  \"count\": 5\n}\n"), "\(seen)")
        #expect(seen.contains("\n# yours\n") && seen.contains("\n# stored 2-"))
        #expect(try room.run("get", "db", "milk").json["count"] == 12)
        #expect(try keptFiles == [])
    }

    @Test func `a document that was deleted meanwhile is created again only when the user says so`() throws {
        let change = "'\(tool)' delete db milk --force >/dev/null"
        let mine = #"echo '{"mine":1}' >"$1""#
        let given = try edit(first("\(change); \(mine)", then: ": >\"$1\""))
        #expect(given.status == 1 && given.errors.contains("deleted meanwhile"), "\(given)")
        #expect(try room.run("get", "db", "milk").status == 3)
        let kept = try keptFiles.map { String(decoding: try room.contents(of: $0), as: UTF8.self) }
        #expect(kept.contains("{\"mine\":1}\n"))
        try FileManager.default.removeItem(atPath: room.path("ran"))
        try room.run("put", "db", "milk", "{}")
        #expect(try edit(first("\(change); \(mine)")).status == 0)
        #expect(try room.run("get", "db", "milk").json["mine"] == 1)
    }

    @Test func `a text that can't be stored is kept in the file that the message names`() throws {
        for script in [#"echo '{"name": Milk}' >"$1""#, #"echo '[1]' >"$1""#, #"echo '{"_id":"other"}' >"$1""#] {
            let outcome = try edit(script)
            #expect(outcome.status == 5, "\(outcome)")
            let kept = try #require(try keptFiles.first)
            #expect(outcome.errors.contains("kept in \(room.path(kept))"), "\(outcome.errors)")
            try FileManager.default.removeItem(atPath: room.path(kept))
        }
        let gone = try edit(#"rm -r db; echo '{"v":1}' >"$1""#)
        #expect(gone.status != 0 && gone.errors.contains("kept in"), "\(gone)")
    }

    @Test func `a text that a server refuses is kept`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let rules = #"{"validate_doc_update":"function (doc) { if (doc.bad) throw({forbidden: 'no bad ones'}); }"}"#
        try remote.run("put", remote.url(), "_design/rules", rules)
        try remote.room.write(#"echo '{"bad":1}' >"$1""#, to: "editor.sh")
        var environment = environment
        environment["TMPDIR"] = remote.room.folder.path
        let words = ["edit", remote.url("db", "anna:word@"), "milk"]
        try remote.run("users", "add", remote.url(""), "anna", environment: ["SETTLE_NEW_PASSWORD": "word"])
        try remote.run("security", remote.url(), "--member", "anna")
        let refused = try remote.run(all: words, environment: environment)
        #expect(refused.status == 5 && refused.errors.contains("no bad ones"), "\(refused)")
        let files = try FileManager.default.contentsOfDirectory(atPath: remote.room.folder.path)
        let kept = try #require(files.first { $0.hasPrefix("settle-") })
        #expect(refused.errors.contains(remote.room.path(kept)))
        #expect(String(decoding: try remote.room.contents(of: kept), as: UTF8.self) == "{\"bad\":1}\n")
    }

    @Test func `at a terminal a refused text is edited again`() throws {
        try room.write(first(#"echo '{"name": ' >"$1""#, then: #"echo '{"name":"Oat"}' >"$1""#), to: "editor.sh")
        let outcome = try room.atTerminal(
            ["edit", "db", "milk"], .wait("Edit again? [Y/n] "), .type("\n"), .wait("2-"), environment: environment)
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(try room.run("get", "db", "milk").json["name"] == "Oat")
    }

    @Test func `a text that is refused after a merge is edited again with the changes of others`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let rules = "function (doc) { if (doc.bad && doc.name == 'Oat milk') throw({forbidden: 'no bad ones'}); }"
        let design: JSONValue = ["validate_doc_update": .string(rules)]
        try remote.run("put", remote.url(), "_design/rules", design.description)
        try remote.run("put", remote.url(), "milk", #"{"name":"Milk","count":1}"#)
        try remote.run("users", "add", remote.url(""), "anna", environment: ["SETTLE_NEW_PASSWORD": "word"])
        try remote.run("security", remote.url(), "--member", "anna")
        let change = "'\(tool)' put '\(remote.url())' milk '{\"name\":\"Oat milk\",\"count\":1}' --force >/dev/null"
        let mine = #"sed -i.old 's/"count": 1/"count": 1, "bad": 1/' "$1"; rm "$1.old""#
        let better = #"cat "$1" >seen; sed -i.old 's/"bad"/"good"/' "$1"; rm "$1.old""#
        try remote.room.write(first("\(change); \(mine)", then: better), to: "editor.sh")
        var environment = environment
        environment["TMPDIR"] = remote.room.folder.path
        let outcome = try remote.room.atTerminal(
            ["edit", remote.url("db", "anna:word@"), "milk"], .wait("Edit again? [Y/n] "), .type("\n"), .wait("3-"),
            environment: environment)
        #expect(outcome.status == 0 && outcome.output.contains("no bad ones"), "\(outcome.output)")
        let milk = try remote.run("get", remote.url(), "milk").json
        #expect(milk["name"] == "Oat milk" && milk["good"] == 1 && milk["bad"] == nil, "\(milk)")
        let seen = String(decoding: try remote.room.contents(of: "seen"), as: UTF8.self)
        #expect(seen.contains("was changed meanwhile, and merged above.\n"), "\(seen)")
    }

    @Test func `attachments are kept, and removed with their line`() throws {
        try room.write("a photo", to: "photo.txt")
        try room.run("attach", "db", "milk", "photo.txt")
        #expect(try edit(#"sed -i.old 's/: 1,/: 5,/' "$1"; rm "$1.old""#).status == 0)
        #expect(try room.run("get", "db", "milk", "--attachment", "photo.txt").output == "a photo")
        #expect(try edit(#"echo '{"name":"Milk"}' >"$1""#).status == 0)
        #expect(try room.run("get", "db", "milk").json["_attachments"] == nil)
    }

    @Test func `a leaf of a conflict is edited by its revision`() throws {
        let start = try room.run("get", "db", "milk").json["_rev"]?.string ?? ""
        try room.run("put", "db", "milk", #"{"v":"first"}"#, "--rev", start)
        let second = try room.run("put", "db", "milk", #"{"v":"second"}"#, "--rev", start, "--allow-conflict").line
        let outcome = try edit(#"sed -i.old 's/second/third/' "$1"; rm "$1.old""#, "--rev", second)
        #expect(outcome.status == 0 && outcome.line.hasPrefix("3-"), "\(outcome)")
        #expect(try room.run("get", "db", "milk", "--rev", outcome.line).json["v"] == "third")
        #expect(try edit("true", "--rev", start).status == 4)
    }
}
