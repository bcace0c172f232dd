import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleViews

struct TextSearchTests {
    private let books = TextIndex("books", fields: [TextIndexField("title", weight: 5), "summary", "author.name"])

    private func library() throws -> Database {
        let database = try Database.plain()
        let all: [(DocumentID, String, String, String)] = [
            ("a", "The old catalogue", "A list of books about débris and dust", "Ann Lee"),
            ("b", "Café society", "Old friends meet; the catalogue of their books is long", "Béla Novák"),
            ("c", "Debugging", "How bugs are found, and what becomes of old code", "Ann Novak"),
            ("d", "Cooking", "Pies and cakes", "Lee Ann"),
        ]
        for (id, title, summary, author) in all {
            let body: DocumentBody = [
                "title": .string(title), "summary": .string(summary), "author": ["name": .string(author)], "n": 42,
            ]
            try database.save(Document(id: id, body: body), onConflict: .fail)
        }
        try database.save(Document(id: "none", body: ["n": 1]), onConflict: .fail)
        return database
    }

    private func ids(_ text: String, in index: TextIndex? = nil, _ database: Database) throws -> [String] {
        try database.search(text, in: index ?? books).map(\.id.string).sorted()
    }

    @Test(arguments: [
        ("catalogue", ["a", "b"]), ("catalogue AND deb*", ["a"]), ("deb*", ["a", "c"]), ("cafe", ["b"]),
        ("NOVÁK", ["b", "c"]), ("old books", ["a", "b"]), ("\"old friends\"", ["b"]), ("\"friends old\"", []),
        ("old -catalogue", ["c"]), ("old NOT (catalogue OR cafe)", ["c"]), ("cooking OR debugging", ["c", "d"]),
        ("title:catalogue", ["a"]), ("summary:(old books)", ["b"]), ("author.name:lee", ["a", "d"]),
        ("\"ann lee\"", ["a"]), ("\"catalogue books\"~3", ["b"]), ("\"catalogue books\"~1", []),
        ("author.name:\"bél*\"", []), ("author.name:bél*", ["b"]), ("old - books", ["a", "b"]),
        ("title:old OR pies", ["a", "d"]), ("pies +cakes", ["d"]), ("(pies)", ["d"]), ("\"old fr\"*", ["b"]),
        ("\"catalogue boo\"~3*", ["b"]), ("\"catalogue boo\"~1*", []), ("\"catalogue boo\"~3", []),
        ("catalogue \\NOT", []), ("and", ["a", "c", "d"]), ("\"AND\"", ["a", "c", "d"]), ("zebra", []),
    ])
    func `words, prefixes, phrases, fields and operators are parsed`(text: String, found: [String]) throws {
        #expect(try ids(text, library()) == found)
    }

    @Test func `a part of a search without a word in it is ignored`() throws {
        let database = try library()
        let expected: [(String, TextTokenizer, [String])] = [
            ("old – books", .words, ["a", "b"]), ("books € OR pies", .words, ["a", "b", "d"]),
            ("old AND (… OR •) books", .words, ["a", "b"]), ("old NOT –", .words, ["a", "b", "c"]), ("–", .words, []),
            ("old 1 books", .letters, ["a", "b"]), ("old 1 books", .words, []),
            ("old & books", .words(signs: "@_"), ["a", "b"]), ("old & _ books", .words(signs: "@_"), []),
        ]
        for (text, tokenizer, found) in expected {
            let index = TextIndex("parts", fields: ["title", "summary"], tokenizer: tokenizer)
            #expect(try ids(text, in: index, database) == found, "\(text) by \(tokenizer)")
        }
    }

    @Test func `a field is found by the bytes of its name`() throws {
        let database = try Database.plain()
        // The same letter as one character, and as two.
        try database.save(Document(id: "a", body: ["\u{E9}": "cat", "e\u{301}": "dog"]), onConflict: .fail)
        let index = TextIndex("looks", fields: ["\u{E9}", "e\u{301}"])
        #expect(try ids("\u{E9}:cat", in: index, database) == ["a"])
        #expect(try ids("e\u{301}:dog", in: index, database) == ["a"])
        #expect(try ids("e\u{301}:cat", in: index, database) == [])
    }

    @Test(arguments: [
        ("", "no word"), ("  ", "no word"), ("-", "no word"), ("\"open", "character 1: this quote"),
        ("a (b OR", "character 6: OR stands between words"), ("(a", "character 1: this parenthesis is not closed"),
        ("a)", "character 2: this parenthesis was not opened"), ("NOT a", "character 1: NOT takes away"),
        ("a OR OR b", "character 3: OR"), ("OR a", "character 1: OR"), ("a AND", "character 3: AND"),
        ("AND a", "character 1: AND"),
        ("*", "character 1: a *"), ("a*b", "character 2: a *"),
        ("titel:a", "character 1: the index has no field \"titel\", but title"),
        ("title:", "character 6: a colon"), ("a [1 TO 2]", "character 3: a search for words has no ranges"),
        ("a \"b\"~x", "character 6: ~"),
        ("a NOT", "character 3: a word is missing"),
    ])
    func `a malformed search is reported with its position`(text: String, complaint: String) throws {
        let error = #expect(throws: DatabaseError.self) { try Database.plain().search(text, in: books) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
    }

    @Test func `the best matches come first, by the weights of fields`() throws {
        let database = try library()
        let found = try database.search("catalogue", in: books)
        #expect(found.map(\.id) == ["a", "b"])
        #expect(found[0].score > found[1].score)
        let plain = TextIndex("plain", fields: ["title", TextIndexField("summary", weight: 50)])
        #expect(try database.search("catalogue", in: plain).map(\.id) == ["b", "a"])
        #expect(try database.search("old", in: books, limit: 1, skip: 1).count == 1)
        #expect(try database.search("old", in: books, limit: 0).isEmpty)
        let pages = try (0..<3).flatMap { try database.search("old", in: books, limit: 1, skip: $0) }
        #expect(try pages == database.search("old", in: books))
        #expect(try database.count(of: "old", in: books) == 3)
    }

    @Test func `snippets show the match and its place`() throws {
        let database = try library()
        let match = try #require(try database.search("debris OR catalogue", in: books).first)
        #expect(match.snippets.map(\.field) == ["title", "summary"])
        #expect(
            match.snippets.map { $0.marked() } == ["The old [catalogue]", "A list of books about [débris] and dust"])
        let short = try #require(try database.search("dust", in: books, snippetLength: 3).first)
        #expect(short.snippets.first?.marked("<b>", "</b>") == "…débris and <b>dust</b>")
        #expect(try database.search("dust", in: books, snippetLength: nil).first?.snippets == [])
        #expect(try match.document(in: database)?["title"] == "The old catalogue")
        let odd = "x \u{1}y\u{2} \u{0}zebra"
        try database.save(Document(id: "odd", body: ["title": .string(odd)]), onConflict: .fail)
        #expect(try database.search("zebra", in: books).first?.snippets.first?.marked() == "x  y   [zebra]")
    }

    @Test func `all texts of a document are searched unless fields are given`() throws {
        let database = try library()
        let all = TextIndex("all")
        try database.save(
            Document(
                id: "deep", body: ["list": [["note": "a needle"], "two\nlines"], "needle": 7, "$clocks": "hidden"]),
            onConflict: .fail)
        #expect(try ids("needle", in: all, database) == ["deep"])
        #expect(try ids("lines", in: all, database) == ["deep"])
        #expect(try ids("hidden", in: all, database).isEmpty)
        #expect(try ids("42", in: all, database).isEmpty)
        let error = #expect(throws: DatabaseError.self) { try database.search("title:a", in: all) }
        #expect(error?.message.contains("the index has no fields") == true)
        let lists = TextIndex("lists", fields: ["list.note", "n", #"a\.b"#])
        try database.save(Document(id: "dotted", body: ["a.b": "spot", "a": ["b": "other"]]), onConflict: .fail)
        #expect(try ids("needle", in: lists, database) == ["deep"])
        #expect(try ids("42", in: lists, database) == ["a", "b", "c", "d"])
        #expect(try ids("spot", in: lists, database) == ["dotted"])
        #expect(try ids("other", in: lists, database).isEmpty)
    }

    @Test func `each tokenizer splits text as documented`() throws {
        let database = try Database.plain()
        let text = "Connected café foo_bar ann@example.com v2beta Über-Straße"
        try database.save(Document(id: "x", body: ["t": .string(text)]), onConflict: .fail)
        func finds(_ word: String, _ tokenizer: TextTokenizer) throws -> Bool {
            try !database.search(word, in: TextIndex("t", fields: ["t"], tokenizer: tokenizer)).isEmpty
        }
        let expected: [(String, TextTokenizer, Bool)] = [
            ("cafe", .words, true), ("cafe", .words(foldsAccents: false), false),
            ("CAFÉ", .words(foldsAccents: false), true),
            ("uber", .words, true), ("foo", .words, true), ("foo", .words(signs: "_"), false),
            ("foo_bar", .words(signs: "_"), true), ("connection", .english, true), ("connection", .words, false),
            ("nnect", .trigrams, true), ("nnect", .words, false), ("ann@example.com", .unbroken, true),
            ("example", .unbroken, false), ("v", .letters, true), ("beta", .letters, true), ("beta", .words, false),
            ("connected", .whole, false), ("\"\(text.lowercased())\"", .whole, true),
        ]
        for (word, tokenizer, isFound) in expected {
            #expect(try finds(word, tokenizer) == isFound, "\(word) by \(tokenizer)")
        }
    }

    @Test func `the whole tokenizer matches entire texts only, lines and numbers too`() throws {
        let database = try Database.plain()
        for (id, text) in [("two", "blue cat\nred dog"), ("one", "red dog"), ("number", "-1.5")] {
            try database.save(
                Document(id: DocumentID(stringLiteral: id), body: ["t": .string(text)]), onConflict: .fail)
        }
        let whole = TextIndex("whole", fields: ["t"], tokenizer: .whole)
        #expect(try ids("\"Red dog\"", in: whole, database) == ["one"])
        #expect(try ids("\"red dog\"~3", in: whole, database) == ["one"])
        #expect(try ids("\"blue cat\nred dog\"", in: whole, database) == ["two"])
        #expect(try ids("\"blue\"*", in: whole, database) == ["two"])
        #expect(try ids("\"dog\"", in: whole, database).isEmpty)
        let words = TextIndex("words", fields: ["t"])
        for index in [whole, words] {
            #expect(try ids("\"-1.5\"", in: index, database) == ["number"])
            let error = #expect(throws: DatabaseError.self) { try database.search("-1.5", in: index) }
            #expect(error?.message.contains("put a text that begins with - into quotes") == true)
        }
    }

    @Test(arguments: ["standard", "classic", "email", "simple", "whitespace", "keyword", "english"])
    func `each analyzer with a tokenizer finds a word`(analyzer: String) throws {
        let database = try Database.plain()
        try database.save(Document(id: "x", body: ["t": "Word"]), onConflict: .fail)
        let tokenizer = try #require(TextTokenizer(analyzer: analyzer))
        #expect(try ids("word", in: TextIndex("t", fields: ["t"], tokenizer: tokenizer), database) == ["x"])
        #expect(TextTokenizer(analyzer: "german") == nil)
    }

    @Test func `text typed by a person is treated as words`() throws {
        let database = try library()
        #expect(TextIndex.typed("old bo") == #""old" "bo"*"#)
        #expect(TextIndex.typed(" (-\"") == "")
        #expect(try ids(TextIndex.typed("OR (cat"), database).isEmpty)
        #expect(try ids(TextIndex.typed("old: cat"), database) == ["a", "b"])
        for text in ["a AND", "x:y", "\"", "naïve*", "日本", "e\u{301}t"] {
            let search = TextIndex.typed(text)
            if !search.isEmpty { #expect(throws: Never.self) { try database.search(search, in: books) } }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a live search delivers its results, then each change of them`() async throws {
        let database = try library()
        var iterator = database.observe("catalogue", in: books).makeAsyncIterator()
        #expect(try await iterator.next()?.map(\.id) == ["a", "b"])
        // A document that does not match.
        try database.save(Document(id: "other", body: ["title": "Nothing"]), onConflict: .fail)
        try database.save(Document(id: "new", body: ["title": "Catalogue catalogue"]), onConflict: .fail)
        #expect(try await iterator.next()?.map(\.id).contains("new") == true)
        try database.delete(try #require(try database.document("a")), onConflict: .fail)
        #expect(try await iterator.next()?.map(\.id).contains("a") == false)
        database.close()
        #expect(try await iterator.next() == nil)
    }

    @Test func `an index is kept, a damaged one is rebuilt, and a changed one replaces the old one`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.settle"
        for round in 1...3 {
            var options = DatabaseOptions()
            options.warn = { _ in }
            let database = try Database.openOrCreate(path, options: options)
            try database.save(
                Document(id: DocumentID(stringLiteral: "r\(round)"), body: ["title": "word"]), onConflict: .fail)
            #expect(try database.count(of: "word", in: books) == round)
            database.close()
            guard round == 2 else { continue }
            for file in try FileManager.default.contentsOfDirectory(atPath: path + "/views") {
                let url = URL(filePath: path + "/views/" + file)
                var bytes = try Data(contentsOf: url)
                let kept = min(4096, bytes.count)
                bytes.replaceSubrange(kept..., with: Data(repeating: 0xA5, count: bytes.count - kept))
                try bytes.write(to: url)
            }
        }
        let database = try Database.openOrCreate(path)
        #expect(try database.count(of: "word", in: TextIndex("books", fields: ["title"])) == 3)
        #expect(try database.count(of: "word", in: TextIndex("more", fields: ["title"])) == 3)
        let files = try FileManager.default.contentsOfDirectory(atPath: path + "/views")
        #expect(files.count(where: { $0.hasSuffix(".index") }) == 2, "\(files)")
    }
}
