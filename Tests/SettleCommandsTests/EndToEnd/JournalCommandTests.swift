import Foundation
import Settle
import Testing

struct JournalCommandTests {
    let room: Room

    init() throws {
        room = try Room()
        try room.run("create", "a.settle", "--journal")
    }

    @Test func `operations are listed with the pending changes`() throws {
        #expect(try room.run("log", "a").line == "Everything is synchronized")
        try room.run("put", "a", "milk", #"{"count":1}"#)
        try room.run("put", "a", "bread", #"{"count":1}"#)
        try room.run("delete", "a", "bread", "--force")
        let output = try room.run("log", "a").output
        #expect(output.contains("CREATE     milk  ") && output.contains("DELETE     bread  "))
        #expect(output.hasSuffix("Pending\n  CREATE milk  count\n"))
        let json = try room.run("log", "a", "--json").json
        #expect(json["history"]?.array?.map { $0["operation"] } == ["CREATE", "CREATE", "DELETE"])
        #expect(json["history"]?[2]?["old"] == ["count": 1] && json["history"]?[2]?["new"] == .null)
        #expect(json["pending"]?.array?.count == 1)
        #expect(json["pending"]?[0]?["changes"]?[0]?["attribute"] == "count")
        let one = try room.run("log", "a", "bread", "--limit", "1", "--json").json
        #expect(one["history"]?.array?.count == 1 && one["pending"] == [])
        let newest = try room.run("log", "a", "--limit", "2", "--json").json["history"]?.array ?? []
        #expect(newest.map { $0["operation"] } == ["CREATE", "DELETE"] && newest.map { $0["number"] } == [2, 3])
    }

    @Test func `everything is synchronized only if no operation is pending`() throws {
        #expect(try room.run("log", "a", "bread").line == "Everything is synchronized")
        try room.run("put", "a", "milk", #"{"count":1}"#)
        let bread = try room.run("log", "a", "bread")
        #expect(bread.line == #"No operation on "bread" is pending (on other documents: 1)"#, "\(bread)")
        #expect(try room.run("log", "a", "--limit", "0").output == "Pending\n  CREATE milk  count\n")
    }

    @Test func `pending changes are shown as a difference`() throws {
        try room.run("put", "a", "milk", #"{"count":1}"#)
        #expect(try room.run("status", "a").output == "CREATE milk\n  + count: 1\n1 document pending\n")
        try room.run("create", "b")
        try room.run("sync", "a", "b")
        #expect(try room.run("status", "a").line == "Nothing is pending")
        let read = try room.run("get", "a", "milk", "--json").json["_rev"]?.string
        try room.run("put", "a", "milk", #"{"count":2}"#, "--rev", try #require(read))
        #expect(
            try room.run("status", "a").output == "UPDATE milk\n  - count: 1\n  + count: 2\n1 document pending\n")
        let line = try room.run("status", "a", "--json").json
        #expect(line["old"] == ["count": 1] && line["changes"]?[0]?["value"] == 2)
    }

    @Test func `operations are undone, the newest first`() throws {
        for name in ["a", "b", "c", "d"] { try room.run("put", "a", name, "{}") }
        #expect(try room.run("undo", "a").line == "undone CREATE d")
        #expect(try room.run("undo", "a", "-n", "2").output == "undone CREATE c\nundone CREATE b\n")
        #expect(try room.run("undo", "a", "a", "--json").json["undone"]?[0]?["id"] == "a")
        #expect(try room.run("undo", "a", "--all").line == "There is nothing to undo")
        #expect(try room.run("docs", "a", "--json").output == "")
        #expect(try room.run("undo", "a", "a", "--all").status == 2)
    }

    @Test func `a journal is switched off for all documents only`() throws {
        try room.run("put", "a", "milk", "{}")
        try room.run("put", "a", "bread", "{}")
        for option in ["--off", "--on"] {
            let one = try room.run("log", "a", "milk", option)
            #expect(one.status == 2 && one.errors.contains("\(option) is for the journal of all documents"), "\(one)")
            let limited = try room.run("log", "a", option, "--limit", "1")
            #expect(limited.status == 2, "\(limited)")
            #expect(limited.errors.contains("--limit and \(option) exclude each other"), "\(limited)")
        }
        #expect(try room.run("log", "a", "--json").json["history"]?.array?.count == 2)
    }

    @Test func `a journal is switched on and off`() throws {
        try room.run("create", "plain")
        let without = try room.run("undo", "plain")
        #expect(without.status == 3 && without.errors.contains("settle log DB --on"))
        #expect(try room.run("log", "plain", "--on", "--json").json == ["ok": true, "journal": true])
        try room.run("put", "plain", "a", "{}")
        #expect(try room.run("log", "plain", "--json").json["history"]?.array?.count == 1)
        #expect(try room.run("log", "plain", "--off").line == "The journal is switched off and deleted")
        #expect(try room.run("status", "plain").status == 3)
        #expect(try room.run("get", "plain", "a").status == 0)
    }
}
