import Foundation
import Settle
import Testing

@Suite(.timeLimit(.minutes(5))) struct FindCommandTests {
    private typealias Run = (String...) throws -> Room.Outcome

    private static let people = """
        {"_id":"ann","name":"Ann","age":36,"address":{"city":"Prague"}}
        {"_id":"bob","name":"Bob","age":30,"address":{"city":"Brno"}}
        {"_id":"eve","name":"Eve","age":41,"address":{"city":"Brno"},"vip":true}
        {"_id":"tea","name":"Tea"}

        """

    private func check(_ database: String, _ room: Room, _ run: Run) throws {
        try room.write(Self.people, to: "people.jsonl")
        #expect(try run("import", database, "people.jsonl").status == 0)
        let found = try run("find", database, "age > 30", "--fields", "_id,address.city")
        #expect(found.lines == ["ID   address.city", "ann  Prague", "eve  Brno"])
        #expect(found.errors.contains("no index serves these conditions"))
        #expect(found.errors.contains(" age` creates one") && !found.errors.contains("secret-word"), "\(found.errors)")

        // A CouchDB selector, from a file and from standard input.
        try room.write(#"{"age": {"$gt": 30}}"#, to: "grown.json")
        let json = try run("find", database, "@grown.json", "--json")
        #expect(json.lines.count == 2 && json.lines[0].hasPrefix(#"{"_id":"ann","_rev":"1-"#), "\(json.output)")
        #expect((try? JSONValue(parsing: json.errors))?["warning"]?.string?.contains("no index serves") == true)
        #expect(try run("find", database, "@grown.json", "--count", "--quiet").line == "2")
        #expect(try run("find", database, "age > 99").line == "Nothing found")
        #expect(try run("find", database, "{}", "--count", "--json").json == ["count": 4])
        #expect(try run("find", database, "{}").errors == "")

        // An order needs an index, and the error says how to create it.
        let unsorted = try run("find", database, "address.city = 'Brno'", "--sort", "age")
        #expect(unsorted.status == 5)
        #expect(unsorted.errors.contains("index create ") && unsorted.errors.contains(" address.city age` creates one"))
        #expect(try run("find", database, "age > 1", "--sort", "age,-name").status == 2)
        let made = try run("index", "create", database, "address.city", "age", "--name", "by-city", "--ddoc", "people")
        #expect(made.line == "Created by-city of _design/people", "\(made.errors)")
        let sorted = try run(
            "find", database, "address.city = 'Brno'", "--sort", "-age", "--json", "--fields", #"["name","age"]"#)
        #expect(sorted.lines == [#"{"name":"Eve","age":41}"#, #"{"name":"Bob","age":30}"#], "\(sorted.errors)")
        #expect(sorted.errors == "")

        // A page, and the next one.
        let first = try run(
            "find", database, "address.city > '' && age exists", "--limit", "1", "--json", "--fields", "_id", "--stats")
        #expect(first.line == #"{"_id":"bob"}"# && first.error["execution_stats"]?["results_returned"] == 1)
        let bookmark = try #require(first.error["bookmark"]?.string, "\(first.errors)")
        let rest = try run(
            "find", database, "address.city > '' && age exists", "--fields", "_id", "--bookmark", bookmark, "--stats")
        #expect(rest.lines == ["ID", "eve", "ann"])
        // A covering index.
        #expect(rest.errors.hasPrefix("2 documents found; 2 rows and 0 documents looked at, in "), "\(rest.errors)")

        // The query plan.
        let plan = try run("find", database, "address.city = 'Brno' && age >= 31 && name matches 'e'", "--explain")
        #expect(
            plan.output == """
                Index                     by-city of _design/people
                Ordered by                address.city, age
                Reads                     rows from "Brno", 31 to "Brno"
                Narrowed by               address.city = "Brno" and age >= 31
                Checked on each document  name $regex "e"

                """)
        let none = try run("find", database, "name = 'Ann'", "--explain")
        #expect(none.lines.first == "Index                     none: all documents are read")
        #expect(none.output.contains("Not by                    by-city of _design/people: it has fields without"))
        #expect(none.lines.last?.hasSuffix(" name` creates one") == true)
        let answer = try run("find", database, "age > 1", "--explain", "--json").json
        #expect(answer["index"]?["name"] == "_all_docs" && answer["selector"] == ["age": ["$gt": 1]])

        // Invalid queries.
        let operators = try run("find", database, #"{"age":{"$foo":1}}"#, "--json")
        #expect(operators.status == 5 && operators.error["error"] == "invalid_operator", "\(operators.errors)")
        #expect(try run("find", database, "{age:1}").errors.contains("the selector is not JSON"))
        #expect(try run("find", database, "age >").status == 2)
        #expect(try run("find", database, "age > 1", "--bookmark", "x").status == 5)
        #expect(try run("find", database, "age > 1", "--count", "--limit", "1").status == 2)
    }

    @Test func `documents on disk are found by conditions`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try check("db", room) { try room.run(all: $0) }
        #expect(try room.run("find", "db", "-", input: "vip = true\n").lines.last?.hasPrefix("eve  Eve   41") == true)
        #expect(try room.run("find", "none", "age > 1").status == 3)
    }

    @Test func `documents on a server are found by conditions`() throws {
        let remote = try RemoteRoom()
        #expect(try remote.run("create", remote.url()).status == 0)
        try check(remote.url(), remote.room) { try remote.run(all: $0) }
        #expect(try remote.run("find", remote.url("none"), "age > 1").status == 3)
    }

    private func checkLists(_ database: String, _ run: Run) throws {
        #expect(try run("put", database, "a", #"{"tags":["x","y"],"name":"Ann"}"#).status == 0)
        #expect(try run("put", database, "b", #"{"tags":"x-man","name":"Bob"}"#).status == 0)
        func ids(_ selector: String) throws -> [String] { Array(try run("find", database, selector).lines.dropFirst()) }
        #expect(try ids(#"tags contains "y""#).map { $0.prefix(1) } == ["a"])
        #expect(try ids(#"tags CONTAINS 'x' AND NOT name == 'Ann'"#).map { $0.prefix(1) } == ["b"])
        let none = try run("find", database, #"tags = "y""#)
        #expect(none.line == "Nothing found" && none.errors.contains(#"tags is a list: say tags contains "y""#))
        let json = try run("find", database, #"tags = "y" && name = "Ann""#, "--json", "--count")
        #expect(json.json["count"] == 0 && json.errors.contains(#"{"warning":"tags is a list"#), "\(json.errors)")
        #expect(try run("find", database, #"tags = "y""#, "--quiet").errors == "")
        #expect(try !run("find", database, #"name = "Eve""#).errors.contains("list"))
    }

    @Test func `lists and texts are searched for what they contain, and a comparison with a list is explained`() throws
    {
        let remote = try RemoteRoom()
        for database in ["db", remote.url()] {
            #expect(try remote.run("create", database).status == 0)
            try checkLists(database) { try remote.run(all: $0) }
        }
    }

    private func checkIndexes(_ database: String, _ isFolder: Bool, _ room: Room, _ run: Run) throws {
        try room.write(Self.people, to: "people.jsonl")
        #expect(try run("import", database, "people.jsonl").status == 0)
        #expect(try run("index", "list", database).lines == ["NAME       TYPE     MEMBERS", "_all_docs  special  _id"])
        let made = try run("index", "create", database, "age", "--name", "by-age", "--json").json
        #expect(made["result"] == "created" && made["name"] == "by-age")
        #expect(try run("index", "create", database, "age", "--name", "by-age", "--json").json["result"] == "exists")
        let open = try run(
            "index", "create", database, "name", "--where", "age > 30", "--ddoc", "grown", "--name", "by-name", "--json"
        )
        #expect(open.json == ["result": "created", "id": "_design/grown", "name": "by-name"])
        #expect(
            try run("find", database, "name > 'B'", "--use-index", "grown", "--json", "--fields", "_id").lines == [
                #"{"_id":"eve"}"#
            ])
        let lines = try run("index", "list", database, "--json").lines.map { try JSONValue(parsing: $0) }
        let grown = try #require(lines.first { $0["ddoc"] == "_design/grown" })
        #expect(grown["def"]?["partial_filter_selector"] == ["age": ["$gt": 30]])
        #expect(grown["pending"] == 0 && (grown["size"]?.int ?? 0) > 0 && (!isFolder || grown["rows"] == 2))
        #expect(lines.first { $0["name"] == "by-age" }?["pending"] != 0)
        let built = try run("index", "build", database, "by-age", "--json").json
        #expect(built["name"] == "by-age" && built["pending"] == 0 && (!isFolder || built["rows"] == 3))
        #expect(try run("index", "build", database).status == 0)

        // An ambiguous name is refused.
        #expect(try run("index", "create", database, "vip", "--ddoc", "grown", "--name", "by-age").status == 0)
        let unclear = try run("index", "delete", database, "by-age")
        #expect(unclear.status == 2 && unclear.errors.contains("2 indexes are called \"by-age\""), "\(unclear.errors)")
        #expect(try run("index", "delete", database, "grown/by-age").line == "Removed by-age of _design/grown")
        #expect(try run("index", "delete", database, "by-age", "--json").json["ok"] == true)
        let missing = try run("index", "delete", database, "by-nam")
        #expect(missing.status == 3 && missing.errors.contains("did you mean by-name?"))
        #expect(try run("index", "delete", database, "by-name").status == 0)
        #expect(try run("index", "list", database, "--json").lines.count == 1)
        #expect(try run("design", "list", database, "--json").lines == [])

        #expect(try run("index", "create", database).status == 2)
        let downwards = try run("index", "create", database, "a.b", "c", "--descending", "--name", "down").status
        #expect(downwards == 0)
        #expect(try run("index", "list", database).output.contains("-a.b, -c"))
        #expect(try run("index", "list", database, "x").status == 2)
        #expect(try run("index", "list", database, "--name", "x").errors.contains("--name is for create"))
        #expect(try run("index", "lst", database).errors.contains("did you mean list?"))
    }

    @Test func `indexes on disk are created, listed, built and removed`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try checkIndexes("db", true, room) { try room.run(all: $0) }
    }

    @Test func `indexes on a server are created, listed, built and removed`() throws {
        let remote = try RemoteRoom()
        #expect(try remote.run("create", remote.url()).status == 0)
        try checkIndexes(remote.url(), false, remote.room) { try remote.run(all: $0) }
    }
}
