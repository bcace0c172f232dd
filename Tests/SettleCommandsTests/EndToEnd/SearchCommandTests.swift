import Settle
import SettleServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct SearchCommandTests {
    @Test func `full-text search finds documents by words, with the matching text`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        for (id, body) in [
            ("a", #"{"title":"The old catalogue","author":{"name":"Ann"}}"#),
            ("b", #"{"title":"Café","text":"old débris"}"#),
            ("c", #"{"n":1}"#),
        ] { #expect(try room.run("put", "db", id, body).status == 0) }
        #expect(try room.run("search", "db", "catalogue").lines == ["a", "    The old [catalogue] Ann"])
        #expect(try room.run("search", "db", "deb*", "--ids").line == "b")
        #expect(try room.run("search", "db", "old", "--count").line == "2")
        #expect(try room.run("search", "db", "old -cafe", "--ids").line == "a")
        #expect(try room.run("search", "db", "old", "--ids", "--limit", "1", "--skip", "2").line == "Nothing found")
        let json = try room.run("search", "db", "author.name:ann", "--in", "title, author.name", "--json").json
        #expect(json["id"] == "a" && json["snippets"]?[0]?["field"] == "author.name")
        #expect(json["snippets"]?[0]?["parts"] == [["text": "Ann", "match": true]])
        #expect(try room.run("search", "db", "talog", "--words", "trigrams", "--ids").line == "a")
        // Later changes are found, and removed texts are not.
        #expect(try room.run("put", "db", "d", #"{"title":"Another catalogue"}"#).status == 0)
        #expect(try room.run("delete", "db", "a", "--force").status == 0)
        #expect(try room.run("search", "db", "catalogue", "--ids").line == "d")
    }

    @Test func `a malformed search is refused`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        let outcome = try room.run("search", "db", "title:x", "--json")
        #expect(outcome.status == 5 && outcome.error["error"] == "invalid")
        #expect(outcome.error["message"]?.string?.contains("at character 1: the index has no fields") == true)
        #expect(try room.run("search", "db", "(a").status == 5)
        #expect(try room.run("search", "none", "a").status == 3)
        #expect(try room.run("search", "http://localhost:1/db", "a", "--words", "english").status == 2)
        #expect(try room.run("search", "db", "a", "--count", "--ids").status == 2)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ServerSearchCommandTests {
    private static let books = """
        {"_id":"a","title":"The old catalogue","year":1990}
        {"_id":"b","title":"Café","text":"old débris","year":2001}
        {"_id":"c","n":1}

        """

    @Test func `full-text search finds documents on a server by a text index`() throws {
        let remote = try RemoteRoom { $0.makesTextIndexes = true }
        let url = remote.url()
        #expect(try remote.run("create", url).status == 0)
        #expect(try remote.run("import", url, "-", input: Self.books).status == 0)
        let early = try remote.run("search", url, "old", "--json")
        #expect(early.status == 5 && early.error["error"] == "no_usable_index", "\(early.errors)")
        #expect(early.errors.contains("--text` creates one") && !early.errors.contains("secret-word"))
        #expect(try remote.run("find", url, #"{"$text":"old"}"#).errors.contains(" --text` creates one"))

        let made = try remote.run("index", "create", url, "--text", "title", "--ddoc", "texts", "--name", "all")
        #expect(made.line == "Created all of _design/texts", "\(made.errors)")
        #expect(try remote.run("search", url, "catalogue").lines == ["a", "    title: The old catalogue, year: 1990"])
        #expect(try remote.run("search", url, "deb*", "--ids").line == "b")
        #expect(try remote.run("search", url, "old", "--count").line == "2")
        #expect(try remote.run("search", url, "title:old", "--ids", "--json").json == ["id": "a"])
        #expect(try remote.run("search", url, "catalogue", "--json").json["doc"]?["year"] == 1990)
        #expect(try remote.run("search", url, "none").line == "Nothing found")
        #expect(try remote.run("search", url, "old", "--in", "title").status == 2)
        let plan = try remote.run("find", url, #"{"$text":"old","year":{"$gt":1995}}"#, "--explain")
        #expect(
            plan.output == """
                Index                     all of _design/texts
                Of                        title
                Searches                  old
                Checked on each document  year > 1995

                """)
        #expect(try remote.run("index", "build", url, "all").status == 0)
        #expect(try remote.run("index", "delete", url, "texts/all").status == 0)
    }

    @Test func `a server without text indexes is reported`() throws {
        let remote = try RemoteRoom()
        #expect(try remote.run("create", remote.url()).status == 0)
        let refused = try remote.run("index", "create", remote.url(), "--text", "--json")
        #expect(refused.status == 5 && refused.error["error"] == "no_text_indexes", "\(refused.errors)")
        #expect(refused.errors.contains("--text-indexes on"))
    }

    @Test func `a text index on disk answers searches by words`() throws {
        let room = try Room()
        #expect(try room.run("import", "db", "-", input: Self.books).status == 0)
        #expect(try room.run("index", "create", "db", "--analyzer", "english").status == 2)
        #expect(try room.run("index", "create", "db", "--text", "--analyzer", "english", "--name", "all").status == 0)
        #expect(try room.run("find", "db", #"{"$text":"catalogues"}"#, "--fields", "_id").lines == ["ID", "a"])
        let list = try room.run("index", "list", "db", "--json").lines
        let index = try JSONValue(parsing: list[1])
        #expect(index["type"] == "text" && index["rows"] == 2 && index["pending"] == 0, "\(list)")
        #expect(try room.run("index", "list", "db").lines[2].contains("all texts"))
        #expect(try room.run("search", "db", "old", "--use-index", "all").status == 2)
        #expect(try room.run("index", "delete", "db", "all").status == 0)
    }
}
