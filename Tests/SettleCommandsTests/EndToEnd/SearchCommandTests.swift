import Settle
import Testing

@Suite(.timeLimit(.minutes(5))) struct SearchCommandTests {
    @Test func `documents are found by words, with what was found`() throws {
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
        // What was changed since is found, and what is gone is not.
        #expect(try room.run("put", "db", "d", #"{"title":"Another catalogue"}"#).status == 0)
        #expect(try room.run("delete", "db", "a", "--force").status == 0)
        #expect(try room.run("search", "db", "catalogue", "--ids").line == "d")
    }

    @Test func `a search that can't be understood is refused`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        let outcome = try room.run("search", "db", "title:x", "--json")
        #expect(outcome.status == 5 && outcome.error["error"] == "invalid")
        #expect(outcome.error["message"]?.string?.contains("at character 1: the index has no fields") == true)
        #expect(try room.run("search", "db", "(a").status == 5)
        #expect(try room.run("search", "none", "a").status == 3)
        #expect(try room.run("search", "http://localhost:1/db", "a").status == 2)
        #expect(try room.run("search", "db", "a", "--count", "--ids").status == 2)
    }
}
