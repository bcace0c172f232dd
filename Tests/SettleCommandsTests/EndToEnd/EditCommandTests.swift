import Foundation
import Settle
import Testing

struct EditCommandTests {
    let room: Room

    init() throws {
        room = try Room()
        try room.makeConflicts()
    }

    /// Runs `--edit` with a script as the editor, which has the file's path as `$1`.
    private func edit(_ script: String, _ words: String...) throws -> Room.Outcome {
        try room.write(script, to: "editor.sh")
        return try room.run(
            all: ["resolve", "a", "milk", "--edit"] + words,
            environment: ["VISUAL": "", "EDITOR": "sh editor.sh", "TMPDIR": room.folder.path])
    }

    private var keptFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: room.folder.path).filter { $0.hasPrefix("settle-") }
        }
    }

    @Test func `text written in the editor is saved`() throws {
        let outcome = try edit(#"cat "$1" >seen; sed -i.old 's/"Oat milk"/"Hafermilch"/' "$1"; rm "$1.old""#)
        #expect(outcome.status == 0 && outcome.output.hasPrefix("milk: settled as 4-"))
        #expect(outcome.line.hasSuffix(", as edited"))
        let milk = try room.run("get", "a", "milk").json
        #expect(milk["name"] == "Hafermilch" && milk["count"] == 5 && milk["note"] == nil)
        #expect(milk["_attachments"]?["oats.txt"] != nil)
        let seen = String(decoding: try room.contents(of: "seen"), as: UTF8.self)
        #expect(seen.hasPrefix("{\n  \"name\": \"Oat milk\",\n  \"count\": 5,\n"))
        #expect(seen.contains("\n# ---- Text below this line is ignored ----\n"))
        #expect(seen.contains("#   /count: clash, decided by the rule “winner”\n"))
        #expect(seen.contains("\n# base 1-") && seen.contains("\n# winner, remote, 3-"))
        #expect(seen.contains("\n# other, local, 2-"))
        #expect(try keptFiles == [])
    }

    @Test func `attachments are kept as long as the text names them`() throws {
        #expect(try edit(#"printf '{"name": "Milk"}\n' >"$1""#).status == 0)
        let milk = try room.run("get", "a", "milk").json
        #expect(milk["name"] == "Milk" && milk["_attachments"] == nil)
    }

    @Test func `an unchanged or emptied text is not saved`() throws {
        let before = try room.leaves("a")
        for script in ["true", ": >\"$1\"", "printf '\\n\\n# ---- Text below this line is ignored ----\\n{}' >\"$1\""] {
            let outcome = try edit(script)
            #expect(outcome.status == 1 && outcome.errors.contains("nothing is written"), "\(script)")
        }
        let failed = try edit("exit 3")
        #expect(failed.status == 1 && failed.errors.contains("the editor `sh editor.sh` failed"))
        #expect(try room.leaves("a") == before)
    }

    @Test func `invalid JSONValue is reported with its position, and the text is kept`() throws {
        let outcome = try edit(#"printf '{\n  "name": Milk\n}\n' >"$1""#)
        #expect(outcome.status == 5 && outcome.errors.contains("at line 2, column 11"))
        let kept = try #require(try keptFiles.first)
        #expect(outcome.errors.contains(kept))
        #expect(String(decoding: try room.contents(of: kept), as: UTF8.self).contains("Milk"))
        #expect(try edit(#"echo '[1]' >"$1""#).errors.contains("must be a JSON object"))
        #expect(try edit(#"echo '{"_rev":"1-a"}' >"$1""#).status == 5)
        #expect(try edit(#"echo '{"_attachments":{"x":{}}}' >"$1""#).errors.contains("no leaf has an attachment \"x\""))
        #expect(try room.run("conflicts", "a", "--json").lines.count == 2)
    }

    @Test func `an edit of a document changed meanwhile does not overwrite the change`() throws {
        let tool = try #require(try room.start(["version"], "v").executableURL?.path)
        let script = """
            '\(tool)' resolve a milk --policy mostRevisions >/dev/null || exit 1
            '\(tool)' put a milk '{"_id":"milk","_rev":"1-x","v":1}' --force >/dev/null 2>&1
            echo '{"v":2}' >"$1"
            """
        let outcome = try edit(script)
        #expect(outcome.status == 0 && outcome.line == "milk: not in conflict")
        let kept = try #require(try keptFiles.first)
        #expect(outcome.errors.contains("kept in \(room.path(kept))"), "\(outcome.errors)")
        #expect(String(decoding: try room.contents(of: kept), as: UTF8.self) == "{\"v\":2}\n")
    }

    @Test func `a text that is not stored is kept in the file that the message names`() throws {
        let change = "'\(try Room.tool().path)' put a milk '{\"v\":1}' --force >/dev/null || exit 1"
        for (script, status) in [("\(change); echo '{\"v\":2}' >\"$1\"", 4), (#"echo '{"v":2}' >"$1"; exit 3"#, 1)] {
            let outcome = try edit(script)
            #expect(Int(outcome.status) == status, "\(outcome)")
            let kept = try #require(try keptFiles.first)
            #expect(outcome.errors.contains("kept in \(room.path(kept))"), "\(outcome.errors)")
            #expect(String(decoding: try room.contents(of: kept), as: UTF8.self) == "{\"v\":2}\n")
            try FileManager.default.removeItem(atPath: room.path(kept))
        }
        #expect(try room.run("conflicts", "a", "--json").lines.count == 2)
    }

    @Test func `an edit can be previewed without writing`() throws {
        let outcome = try edit(#"echo '{"v":2}' >"$1""#, "--dry-run")
        #expect(outcome.status == 0 && outcome.output.contains(#"{"v":2}"#))
        #expect(try room.run("conflicts", "a", "--json").lines.count == 2)
    }
}
