import PostgresTesting
import Settle
import SettleViews
import Testing

/// Queries that search a text index for words.
struct TextQueryTests {
    private let database: Database

    init() throws {
        database = try Database.plain()
        let books: [(String, String, Int, String)] = [
            ("a", "red cat", 1990, "book"), ("b", "blue cat and more words to weigh it down", 1980, "book"),
            ("c", "red dog", 2000, "film"), ("d", "a red red red fox", 1970, "book"), ("e", "green", 1960, "book"),
        ]
        for (id, title, year, kind) in books {
            let body: DocumentBody = [
                "title": .string(title), "year": .number(JSONNumber(year)), "kind": .string(kind),
            ]
            try database.save(Document(id: DocumentID(stringLiteral: id), body: body), onConflict: .fail)
        }
    }

    private func ids(
        _ selector: JSONValue, _ change: (DocumentQuery<JSONValue>) -> DocumentQuery<JSONValue> = { $0 }
    ) throws -> [String] {
        try database.find(change(DocumentQuery(MangoSelector(selector)))).rows.map(\.id.string)
    }

    @Test func `documents with any of the words are found, best first`() throws {
        try database.createTextIndex(on: "title")
        #expect(try ids(["$text": "red"]) == ["d", "a", "c"])
        #expect(try Set(ids(["$text": "red cat"])) == ["a", "b", "c", "d"])
        #expect(try ids(["$text": "red cat"]).first == "a")
        #expect(try ids(["$text": "\"red cat\""]) == ["a"])
        #expect(try ids(["$text": "title:blue"]) == ["b"])
        #expect(try ids(["$and": [["$text": "red"], ["$text": "fox"]]]) == ["d"])
        #expect(try ids(["$default": ["$text": "fox"]]) == ["d"])
    }

    @Test func `other conditions filter the documents found`() throws {
        try database.createTextIndex()
        #expect(try ids(["$text": "red", "kind": "book"]) == ["d", "a"])
        #expect(try ids(["$text": "red", "year": ["$gt": 1980]]) == ["a", "c"])
        #expect(
            try ids(["$and": [["$text": "red OR green"], ["$or": [["_id": "e"], ["_id": "c"]]]]]).sorted() == [
                "c", "e",
            ])
        #expect(try ids(["$text": "red", "kind": "none"]).isEmpty)
        #expect(try ids(["$text": "red", "$or": []]).count == 3)
    }

    @Test func `sorting is by members, with documents that have all of them first`() throws {
        try database.createTextIndex()
        try database.save(Document(id: "z", body: ["title": "red", "kind": "book"]), onConflict: .fail)
        #expect(try ids(["$text": "red"]) { $0.sorted(by: "year") } == ["d", "a", "c"])
        #expect(try ids(["$text": "red"]) { $0.sorted(by: .descending("year")) } == ["c", "a", "d"])
        #expect(try ids(["$text": "red"]) { $0.sorted(by: "kind", "year") } == ["d", "a", "c"])
        #expect(try ids(["$text": "red"]) { $0.sorted(by: "title:string").prefix(2) } == ["d", "z"])
        #expect(try ids(["$text": "red"]) { $0.sorted(by: "year:number").dropFirst(1).prefix(1) } == ["a"])
    }

    @Test(arguments: [false, true])
    func `pages continue after a bookmark, whatever is written meanwhile`(isSorted: Bool) throws {
        try database.createTextIndex()
        let query = try DocumentQuery<JSONValue>(MangoSelector(["$text": "red OR green OR cat"])).prefix(2)
        let sorted = isSorted ? query.sorted(by: "year") : query
        let all = try database.find(sorted.prefix(100)).rows.map(\.id.string)
        var found: [String] = []
        var bookmark: String?
        for page in 0..<3 {
            let result = try database.find(sorted.after(bookmark))
            found += result.rows.map(\.id.string)
            bookmark = result.bookmark
            // It has other words, so that only the weights of all documents change.
            let body: DocumentBody = ["title": "nothing of it", "year": 1]
            try database.save(Document(id: DocumentID(stringLiteral: "n\(page)"), body: body), onConflict: .fail)
        }
        #expect(found == all && all.count == 5)
        #expect(try database.find(sorted.after(bookmark)).rows.isEmpty)
        // The document may be gone, and without it the scores of the others change.
        guard isSorted else { return }
        let first = try database.find(sorted)
        let last = try #require(first.rows.last?.id)
        try database.delete(try #require(try database.document(last)), onConflict: .fail)
        #expect(try database.find(sorted.after(first.bookmark)).rows.first?.id.string == all[2])
    }

    @Test func `without an index, or with several, an error says so`() throws {
        func code(_ change: (DocumentQuery<JSONValue>) -> DocumentQuery<JSONValue> = { $0 }) throws -> String? {
            do {
                _ = try ids(["$text": "red"], change)
                return nil
            } catch let error as QueryError { return "\(error.code)" }
        }
        try database.createIndex(on: "title")
        #expect(try code() == "no_usable_index")
        try database.createTextIndex(designDocument: "one")
        #expect(try code() == nil)
        try database.createTextIndex(on: "title", designDocument: "two")
        #expect(try code() == "multiple_text_indexes")
        #expect(try code { $0.using("one") } == nil)
        #expect(try code { $0.using("three", isRequired: true) } == "invalid_index")
        for index in try database.indexes() where index.search != nil { #expect(try database.deleteIndex(index)) }
        #expect(try code() == "no_usable_index")
        #expect(try database.document("_design/one") == nil)
    }

    @Test(arguments: ["", "\"red", "nofield:red", "OR"])
    func `a malformed search is an error`(text: String) throws {
        try database.createTextIndex(on: "title")
        let error = #expect(throws: QueryError.self) { try ids(["$text": .string(text)]) }
        #expect(error?.code == .textSearch)
    }

    @Test func `a partial index is used by its name`() throws {
        try database.createTextIndex(designDocument: "books", partialFilter: MangoSelector(["kind": "book"]))
        #expect(throws: QueryError.self) { try ids(["$text": "red"]) }
        #expect(try ids(["$text": "red"]) { $0.using("books") } == ["d", "a"])
    }

    @Test func `the plan shows the search, and why other indexes are not used`() throws {
        try database.createIndex(on: "year", designDocument: "years")
        let index = try database.createTextIndex(on: "title", designDocument: "texts")
        let plan = try database.explain(DocumentQuery<JSONValue>(MangoSelector(["$text": "red", "year": 1])))
        #expect(plan.index == index && plan.search == "red" && !plan.isCovering)
        #expect(plan.candidates.map(\.reason) == ["needs_text_search", "needs_text_search"])
        #expect(plan.indexableFields == ["year"] && plan.unindexableFields == ["$default"])
        let other = try database.explain(DocumentQuery<JSONValue>(MangoSelector(["year": 1])))
        #expect(other.index?.designDocument == "_design/years" && other.search == nil)
        #expect(other.candidates.first { $0.index == index }?.reason == "field_mismatch")
        #expect(try !MangoSelector(["$text": "x"]).matches(["a": "x"]))
    }

    @Test func `execution statistics are counted`() throws {
        try database.createTextIndex()
        let result = try database.find(DocumentQuery<JSONValue>(MangoSelector(["$text": "red", "kind": "book"])))
        #expect(result.statistics.keysExamined == 3 && result.statistics.documentsExamined == 3)
        #expect(result.statistics.results == 2 && result.warnings.isEmpty)
        let sorted = try database.find(
            DocumentQuery<JSONValue>(MangoSelector(["$text": "red"])).sorted(by: "year").prefix(1))
        #expect(sorted.statistics.documentsExamined == 3 && sorted.statistics.results == 1)
    }
}
