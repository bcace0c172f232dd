import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Backups of a running server, and what is restored from them.
@Suite(.timeLimit(.minutes(5))) struct BackupCommandTests {
    let remote: RemoteRoom
    private var room: Room { remote.room }

    init() throws { remote = try RemoteRoom() }

    private func backUp(_ words: String...) throws -> JSONValue {
        let outcome = try remote.run(all: ["backup", remote.url(""), "backup", "--json"] + words)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.json
    }

    /// What `settle export` writes of a database.
    private func export(_ place: String) throws -> [String] {
        try remote.run("export", place, "--local").lines.sorted()
    }

    private func fill() throws {
        try remote.run("create", remote.url("db"))
        let first = try remote.run("put", remote.url(), "note", #"{"v":1}"#).line
        try remote.run("put", remote.url(), "note", #"{"v":2}"#, "--rev", first)
        try remote.run("put", remote.url(), "note", #"{"v":3}"#, "--rev", first, "--allow-conflict")
        let gone = try remote.run("put", remote.url(), "gone", "{}").line
        try remote.run("delete", remote.url(), "gone", "--rev", gone)
        try room.write(String(repeating: "large ", count: 400_000), to: "large.bin")
        try remote.run("attach", remote.url(), "file", "large.bin")
        try remote.run("put", remote.url(), "_local/mine", #"{"seen":7}"#)
        try remote.run("create", remote.url("other%2Fplace"))
        try remote.run("put", remote.url("other%2Fplace"), "x", "{}")
        try remote.run(
            "put", remote.url("_users"), "org.couchdb.user:ann",
            #"{"name":"ann","password":"pw","roles":[],"type":"user"}"#)
    }

    @Test func `each moment of a running server is restored with all it had`() throws {
        try fill()
        let first = try backUp()
        #expect(first["databases"] == 4 && first["consistent"] == true)
        let (before, users) = (try export(remote.url()), try export(remote.url("_users")))
        let revision = try remote.run("get", remote.url(), "file", "--json").json["_rev"]?.string ?? ""
        try remote.run("put", remote.url(), "file", #"{"changed":true}"#, "--rev", revision)
        try remote.run("put", remote.url(), "late", "{}")
        let second = try backUp()
        #expect(second["documents"] == 2, "only what was changed is read: \(second)")
        let third = try backUp()
        #expect(third["documents"] == 0)
        #expect(try room.run("verify", "backup").status == 0)

        let name = try #require(first["moment"]?.string)
        let old = try room.run("restore", "backup", "old", "--at", name, "--json")
        #expect(old.status == 0 && old.json["databases"] == 4, "\(old.errors)")
        #expect(try export("old/db.settle") == before)
        #expect(try export("old/_users.settle") == users)
        #expect(try room.run("get", "old/other%2Fplace.settle", "x").status == 0)
        let settings = try JSONValue(parsing: String(decoding: room.contents(of: "old/server.json"), as: UTF8.self))
        #expect(settings["secret"]?.string?.count == 64)
        let new = try room.run("restore", "backup", "new")
        #expect(new.status == 0, "\(new.errors)")
        #expect(try export("new/db.settle") == export(remote.url()))
        #expect(try room.run("restore", "backup", "new").status == 4)
        #expect(try room.run("restore", "backup", "one", "--database", "db", "--at", "1999").status == 3)
        #expect(try room.run("restore", "backup", "one", "--database", "db").status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: room.path("one")).contains("_users.settle") == false)
    }

    @Test func `each database has the record of its last backup, which no backup or export contains`() throws {
        try fill()
        let record = "_local/settle-backup"
        #expect(try remote.run("get", remote.url(), record).status == 3)
        let first = try backUp()
        for name in ["db", "other%2Fplace", "_users"] {
            let found = try remote.run("get", remote.url(name), record, "--json").json
            #expect(found["moment"] == first["moment"], "\(name): \(found)")
            #expect(found["update_seq"] != nil && found["finished"]?.string?.hasSuffix("Z") == true, "\(found)")
        }
        let before = try remote.run("get", remote.url(), record, "--json").json
        try remote.run("put", remote.url(), "late", "{}")
        let second = try backUp()
        let after = try remote.run("get", remote.url(), record, "--json").json
        #expect(after["moment"] == second["moment"] && after["_rev"] == "0-2")
        let numbers = [before, after].map { record in
            (record["update_seq"]?.string?.prefix { $0 != "-" }).flatMap { Int($0) } ?? -1
        }
        #expect(numbers[0] > 0 && numbers[1] == numbers[0] + 1, "\(numbers)")
        let exported = try export(remote.url())
        #expect(!exported.joined().contains("settle-backup"))
        let moment = second["moment"]?.string ?? ""
        let text = String(decoding: try room.contents(of: "backup/\(moment)/db.local.jsonl"), as: UTF8.self)
        #expect(text.contains("_local/mine") && !text.contains("settle-backup"))
        #expect(try room.run("restore", "backup", "new").status == 0)
        #expect(try room.run("get", "new/db.settle", record).status == 3)
        try room.run("backup", "new", "again")
        #expect(try room.run("get", "new/db.settle", record, "--json").json["moment"] != nil)
    }

    @Test func `a record that the server refuses is reported, and the backup is whole`() throws {
        try remote.run("create", remote.url("db"))
        let plan = FaultPlan("refuses records") { request, _ in
            request.method == "PUT" && request.path.hasSuffix("settle-backup")
                ? .answer(status: 403, retryAfter: nil, body: .couchDB) : .none
        }
        let proxy = try FaultProxy(to: remote.server.port, plan: plan)
        let outcome = try remote.run("backup", remote.url("", behind: proxy), "backup")
        #expect(outcome.status == 0 && outcome.errors.contains("db: the backup is whole, but"), "\(outcome.errors)")
        #expect(try room.run("verify", "backup").status == 0)
        #expect(try remote.run("get", remote.url(), "_local/settle-backup").status == 3)
    }

    @Test func `another product gets no record`() throws {
        try remote.run("create", remote.url("db"))
        let proxy = try remote.disguise()
        #expect(try remote.run("backup", remote.url("", behind: proxy), "backup").status == 0)
        #expect(try remote.run("get", remote.url(), "_local/settle-backup").status == 3)
    }

    @Test func `a purged document and a database that was made again are not restored from older moments`() throws {
        try fill()
        _ = try backUp()
        try remote.server.state.databases.open("db").purge("note")
        try remote.server.state.databases.delete("other/place")
        try remote.run("create", remote.url("other%2Fplace"))
        _ = try backUp()
        #expect(try room.run("restore", "backup", "new").status == 0)
        #expect(try room.run("get", "new/db.settle", "note").status == 3)
        #expect(try room.run("get", "new/db.settle", "file").status == 0)
        #expect(try room.run("get", "new/other%2Fplace.settle", "x").status == 3)
        let kept = try backUp("--full", "--keep", "1")
        #expect(kept["removed"] == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.path("backup")).count == 2)
        #expect(try room.run("restore", "backup", "newest").status == 0)
    }

    @Test func `moments that later ones need keep their files`() throws {
        try fill()
        _ = try backUp()
        try remote.run("put", remote.url(), "late", "{}")
        #expect(try backUp("--keep", "1")["removed"] == 1)
        #expect(try room.run("verify", "backup").status == 0)
        #expect(try room.run("restore", "backup", "new").status == 0)
        #expect(try export("new/db.settle") == export(remote.url()))
    }

    @Test func `a damaged document is left out, and read again by the next backup`() throws {
        try fill()
        let whole = try #require(try backUp()["moment"]?.string)
        let database = try remote.server.state.databases.open("db")
        try SQLiteConnection(path: (database.path ?? "") + "/database.sqlite").execute(
            "UPDATE documents SET body = CAST('{\"x\":1}' AS BLOB) WHERE id = CAST('file' AS BLOB)")
        let outcome = try remote.run("backup", remote.url(""), "backup", "--full", "--keep", "1")
        #expect(outcome.status == 7 && outcome.errors.contains("left out"), "\(outcome.errors)")
        #expect(outcome.errors.contains("no older moment was removed"))
        #expect(try room.run("restore", "backup", "whole", "--at", whole).status == 0)
        #expect(try room.run("get", "whole/db.settle", "file").status == 0)
        #expect(try room.run("restore", "backup", "one").status == 0)
        #expect(try room.run("get", "one/db.settle", "note").status == 0)
        try database.purge("file")
        try remote.run("put", remote.url(), "file", #"{"new":1}"#)
        _ = try backUp()
        #expect(try room.run("restore", "backup", "two").status == 0)
        #expect(try export("two/db.settle") == export(remote.url()))
    }

    @Test func `the result of a backup that is not whole says so, and counts what is damaged`() throws {
        try fill()
        let whole = try backUp()
        #expect(whole["ok"] == true && whole["damaged"] == 0, "\(whole)")
        let database = try remote.server.state.databases.open("db")
        try SQLiteConnection(path: (database.path ?? "") + "/database.sqlite").execute(
            "UPDATE documents SET body = CAST('{\"x\":1}' AS BLOB) WHERE id = CAST('file' AS BLOB)")
        let outcome = try remote.run("backup", remote.url(""), "backup", "--full", "--json")
        #expect(outcome.status == 7 && outcome.json["ok"] == false, "\(outcome)")
        #expect((outcome.json["damaged"]?.int ?? 0) > 0, "\(outcome)")
    }

    @Test func `a damaged backup is named and not restored`() throws {
        try fill()
        let moment = try #require(try backUp()["moment"]?.string)
        let file = room.path("backup/\(moment)/db.jsonl")
        var data = try Data(contentsOf: URL(filePath: file))
        data[data.count / 2] ^= 1
        try data.write(to: URL(filePath: file))
        let report = try room.run("verify", "backup")
        #expect(report.status == 7 && report.errors.contains("db.jsonl is damaged"))
        let json = try room.run("verify", "backup", "--json")
        #expect(json.status == 7 && json.errors == "" && json.json["ok"] == false, "\(json)")
        #expect(json.json["problems"]?[0]?.string?.contains("db.jsonl is damaged") == true, "\(json)")
        #expect(json.json["moments"] == [.string(moment)] && (json.json["files"]?.int ?? 0) > 1, "\(json)")
        #expect(try room.run("restore", "backup", "new").status == 7)
        #expect(!FileManager.default.fileExists(atPath: room.path("new/db.settle")))
    }

    @Test func `a restore that fails says what is incomplete and how to repeat it`() throws {
        try room.write("", into: "data/.keep")
        for name in ["a", "b$"] {
            try room.run("create", "data/\(name).settle")
            try room.run("put", "data/\(name).settle", "note", #"{"v":1}"#)
        }
        let moment = try #require(try room.run("backup", "data", "backup", "--json").json["moment"]?.string)
        let file = "backup/\(moment)/moment.json"
        let whole = String(decoding: try room.contents(of: file), as: UTF8.self)
        var list = try JSONValue(parsing: whole)
        // The database is created, and then its settings are refused.
        list["databases"]?["b$"]?["revs_limit"] = 0
        try room.write(list.description, to: file)
        let failed = try room.run("restore", "backup", "new")
        #expect(failed.status == 5, "\(failed)")
        #expect(failed.errors.contains("the database \"b$\" is incomplete"), "\(failed.errors)")
        let drops = "`settle drop 'new/b$.settle' && settle drop new/a.settle`"
        #expect(failed.errors.contains(drops) && failed.errors.contains("repeat"), "\(failed.errors)")
        try room.write(whole, to: file)
        let again = try room.run("restore", "backup", "new")
        #expect(again.status == 4 && again.errors.contains("`settle drop new/a.settle`"), "\(again)")
        for name in ["a", "b$"] {
            #expect(FileManager.default.fileExists(atPath: room.path("new/\(name).settle")))
            #expect(try room.run("drop", "new/\(name).settle", "--yes").status == 0)
        }
        #expect(try room.run("restore", "backup", "new").status == 0)
        #expect(try room.run("get", "new/b$.settle", "note").status == 0)
    }

    @Test func `writes during a backup leave a state that is whole`() async throws {
        try remote.run("create", remote.url("db"))
        let database = try remote.server.state.databases.open("db")
        let stop = Guarded(false)
        let writing = Task.detached { [database, stop] in
            var number = 0
            while !stop.withLock({ $0 }) {
                number += 1
                // Each transaction changes two documents together.
                try? database.transaction {
                    for id in ["a\(number % 50)", "b\(number % 50)"] {
                        try database.save(
                            Document(id: DocumentID(unchecked: id), body: ["n": .number(JSONNumber(number))]),
                            onConflict: .lastWriteWins)
                    }
                }
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        for round in 0..<3 {
            let outcome = try remote.run("backup", remote.url(""), "backup", "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.json["consistent"] == true)
            #expect(try room.run("restore", "backup", "r\(round)", "--database", "db").status == 0)
            let restored = try Database.open(room.path("r\(round)/db.settle"))
            defer { restored.close() }
            for number in 0..<50 {
                #expect(
                    try restored.document("a\(number)")?["n"] == restored.document("b\(number)")?["n"], "\(number)")
            }
        }
        stop.withLock { $0 = true }
        await writing.value
    }

    @Test func `a folder without a server is backed up and restored, and one with a server is refused`() throws {
        var options = ServerOptions()
        options.port = 0
        try room.write("", into: "data/.keep")
        try room.run("create", "data/db.settle")
        try room.run("put", "data/db.settle", "note", #"{"v":1}"#)
        let outcome = try room.run("backup", "data", "backup", "--json")
        #expect(outcome.status == 0 && outcome.json["databases"] == 1, "\(outcome.errors)")
        #expect(try room.run("restore", "backup", "new").status == 0)
        #expect(try room.run("get", "new/db.settle", "note").output.contains("\"v\""))
        let server = Server(store: try DocumentStore(path: room.path("data")), options: options)
        try server.start()
        defer { server.stop() }
        #expect(try room.run("backup", "data", "backup").status == 6)
        try room.write("x", into: "other/file")
        #expect(try room.run("backup", "new", "other").status == 4)
    }

    @Test func `a folder with databases that a server does not find is neither backed up nor renewed`() throws {
        try room.write("", into: "data/.keep")
        for name in ["db.settle", "Notes.settle", "groceries"] { try room.run("create", "data/\(name)") }
        let outcome = try room.run("backup", "data", "backup")
        #expect(outcome.status == 5 && outcome.output == "", "\(outcome)")
        #expect(outcome.errors.contains("nothing was backed up") && outcome.errors.contains("NAME.settle"))
        #expect(outcome.errors.contains("Notes.settle, groceries;"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: room.path("backup")))
        let renewal = try room.run("renew", "data")
        #expect(renewal.status == 5 && renewal.errors.contains("Notes.settle, groceries;"), "\(renewal)")
        #expect(try room.run("renew", "data/groceries").status == 0)
        let alone = try room.run("backup", "data/groceries", "backup")
        #expect(alone.status == 2 && alone.errors.contains("is a database"), "\(alone)")
        #expect(!FileManager.default.fileExists(atPath: room.path("backup")))
        for (old, new) in [("Notes.settle", "notes.settle"), ("groceries", "groceries.settle")] {
            // A file system that ignores case knows both names.
            try FileManager.default.moveItem(atPath: room.path("data/\(old)"), toPath: room.path("data/moved"))
            try FileManager.default.moveItem(atPath: room.path("data/moved"), toPath: room.path("data/\(new)"))
        }
        #expect(try room.run("backup", "data", "backup", "--json").json["databases"] == 3)
        #expect(try room.run("renew", "data", "--json").json["databases"] == 3)
        #expect(try room.run("renew", "none").status == 3)
        #expect(!FileManager.default.fileExists(atPath: room.path("none")))
    }
}
