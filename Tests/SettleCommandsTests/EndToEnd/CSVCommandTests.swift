import Foundation
import Settle
import Testing

struct CSVCommandTests {
    private static let table = """
        _id,name,address.city,tags,price
        a,"Milk, whole",Prague,"[""x"",""y""]",1.5
        b,Bread,,,2

        """

    private func check(_ database: String, _ room: RemoteRoom) throws {
        try room.room.write(Self.table, to: "in.csv")
        #expect(try room.run("import", database, "in.csv", "--json").json["imported"] == 2)
        #expect(try room.run("get", database, "a").json["address"]?["city"] == "Prague")
        #expect(try room.run("get", database, "b").json["price"] == 2)
        for words in [["export", database, "--csv"], ["docs", database, "--csv"], ["find", database, "{}", "--csv"]] {
            let printed = try room.run(all: words)
            #expect(printed.output == Self.table, "\(words): \(printed)")
            #expect(printed.errors == "" && printed.status == 0)
            let chosen = try room.run(all: words + ["--fields", "price,address"])
            #expect(
                chosen.output == "price,address\n1.5,\"{\"\"city\"\":\"\"Prague\"\"}\"\n2,\n", "\(words): \(chosen)")
        }
        #expect(try room.run("export", database, "out.csv", "--csv").status == 0)
        #expect(try String(decoding: room.room.contents(of: "out.csv"), as: UTF8.self) == Self.table)
    }

    @Test func `a table comes in and goes out as it was, in a folder and at a server`() throws {
        let room = try RemoteRoom()
        try check("db", room)
        try check(room.url(), room)
    }

    @Test func `a column can be the id, cells can stay texts, and failures name their lines`() throws {
        let room = try Room()
        let text = "mail,n\nann@x,1\n,2\nbob@x,3,4\n"
        let outcome = try room.run("import", "db", "-", "--csv", "--id", "mail", "--text", input: text)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("line 3: ") && outcome.errors.contains("line 4: 3 cells"), "\(outcome.errors)")
        #expect(try room.run("get", "db", "ann@x").json["n"] == "1")
        #expect(try room.run("import", "db", "-", "--text", input: "{}").status == 2)
        #expect(try room.run("import", "db", "-", "--csv", input: "a,a\n").errors.contains("line 1: two columns"))
        #expect(try room.run("docs", "db", "--fields", "n").errors.contains("--fields is for --csv"))
        #expect(try room.run("docs", "db", "--csv", "--json").status == 2)
    }

    @Test func `options of an export that a table can't follow are refused`() throws {
        let room = try Room()
        try room.run("create", "db")
        try room.run("put", "db", "a", "{}")
        for words in [
            ["--as", "csv", "--local"], ["--csv", "--local"], ["--csv", "--as", "ndjson"],
            ["--csv", "--as", "pouchdb"],
        ] {
            let outcome = try room.run(all: ["export", "db"] + words)
            #expect(outcome.status == 2 && outcome.output == "", "\(words): \(outcome)")
            #expect(outcome.errors.contains(words[0] == "--as" ? "--local" : "--csv"), "\(words): \(outcome)")
        }
        #expect(try room.run("export", "db", "--csv", "--as", "csv").output == "_id\na\n")
    }

    @Test func `members whose names look the same have columns of their own`() throws {
        let room = try Room()
        try room.run("create", "db")
        // The same letter as one character, and as two.
        try room.run("put", "db", "a", "{\"\u{E9}\":1,\"e\u{301}\":2}")
        let table = try room.run("docs", "db", "--csv")
        #expect(Array(table.output.utf8) == Array("_id,\u{E9},e\u{301}\na,1,2\n".utf8))
    }

    @Test func `members that only later documents have are named`() throws {
        let room = try Room()
        let lines = (0..<1200).map { "{\"_id\":\"\(1000 + $0)\",\"\($0 == 1100 ? "late" : "n")\":\($0)}\n" }
        try room.run("import", "db", "-", input: lines.joined())
        let table = try room.run("docs", "db", "--csv")
        #expect(table.lines.count == 1201 && table.lines[0] == "_id,n")
        #expect(table.errors.contains("what only later documents have: late"), "\(table.errors)")
    }
}
