import PostgresTesting
import Settle
import SettleTesting
import SettleViews
import Testing

/// Paged results while documents are added and deleted.
struct BookmarkTests {
    private func numbers(_ range: some Sequence<Int>, in database: Database) throws {
        try database.transaction {
            for number in range {
                let body: DocumentBody = ["n": .number(JSONNumber(number))]
                try database.save(Document(id: DocumentID(stringLiteral: "d\(number)"), body: body), onConflict: .fail)
            }
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a bookmark continues after its document, whatever is written before it`(
        isIndexed: Bool, isDescending: Bool
    ) throws {
        let database = try Database.plain()
        try numbers(100..<200, in: database)
        if isIndexed { try database.createIndex(on: "n") }
        let field = isIndexed ? "n" : "_id"
        let sort: SortField = isDescending ? .descending(field) : .ascending(field)
        let query = DocumentQuery<JSONValue>().where { $0["_id"] > "" && $0["n"] >= 0 }.sorted(by: sort).prefix(10)
        var bookmark: String?
        var seen: [Int] = []
        for page in 0..<20 {
            let result = try database.find(query.after(bookmark))
            seen += result.values.compactMap { $0["n"]?.int }
            bookmark = result.bookmark
            if result.rows.isEmpty { break }
            // Documents after the position are found, documents before it are not, and the bookmark's own document may
            // be deleted.
            let last = try #require(seen.last)
            try database.delete(
                try #require(try database.document(DocumentID(stringLiteral: "d\(last)"))), onConflict: .fail)
            if page == 2 { try numbers([isDescending ? 300 : 50], in: database) }
            if page == 3 { try numbers([isDescending ? 50 : 300], in: database) }
        }
        let all = Array(100..<200)
        // Ids are ordered as strings, so that of 50 is after all others.
        let expected =
            switch (isIndexed, isDescending) {
            case (true, false): all + [300]
            case (true, true): all.reversed() + [50]
            case (false, false): all + [300, 50]
            case (false, true): Array(all.reversed())
            }
        #expect(seen == expected)
    }

    @Test func `the last bookmark is repeated where no more is found, and an empty result has none`() throws {
        let database = try Database.plain()
        #expect(try database.find(DocumentQuery<JSONValue>()).bookmark == nil)
        try numbers(0..<3, in: database)
        let end = try #require(try database.find(DocumentQuery<JSONValue>()).bookmark)
        let after = try database.find(DocumentQuery<JSONValue>().after(end))
        #expect(after.rows.isEmpty && after.bookmark == end)
        #expect(try database.find(DocumentQuery<JSONValue>().prefix(0)).bookmark == nil)
        #expect(try database.find(DocumentQuery<JSONValue>().dropFirst(5)).bookmark == end)
    }

    @Test(arguments: ["nil", "garbage", "*", "W10", "WzFd", "WyJhIl0", "bnVsbA", "W10=", "\u{FFFF}", "W10\u{0}"])
    func `an invalid bookmark is refused`(text: String) throws {
        let database = try Database.plain()
        let error = #expect(throws: QueryError.self) { try database.find(DocumentQuery<JSONValue>().after(text)) }
        #expect(error?.code == .invalidBookmark)
        #expect(error?.reason == "Invalid bookmark value: \(JSONValue.string(text))")
    }

    @Test func `a bookmark of another query is used as a position`() throws {
        let database = try Database.plain()
        try numbers(0..<10, in: database)
        try database.createIndex(on: "n")
        let byID = try #require(try database.find(DocumentQuery<JSONValue>().prefix(3)).bookmark)
        let query = DocumentQuery<JSONValue>().where { $0["n"] >= 0 }
        let byNumber = try #require(try database.find(query.prefix(3)).bookmark)
        // Strings come before the arrays of an index.
        #expect(try database.find(query.after(byID)).rows.count == 10)
        #expect(try database.find(DocumentQuery<JSONValue>().after(byNumber)).rows.count == 7)
    }

    @Test func `the pages have all results, each once`() async throws {
        let database = try Database.plain()
        try numbers(0..<95, in: database)
        try database.createIndex(on: "n")
        for query in [DocumentQuery<JSONValue>(), DocumentQuery<JSONValue>().where { $0["n"] >= 0 }.sorted(by: "n")] {
            var sizes: [Int] = []
            var ids: Set<String> = []
            for try await page in database.pages(of: query, size: 10) {
                sizes.append(page.rows.count)
                ids.formUnion(page.rows.map(\.id.string))
            }
            #expect(sizes == Array(repeating: 10, count: 9) + [5])
            #expect(ids.count == 95)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `documents inserted after a page are on a later one`() async throws {
        let database = try Database.plain()
        try numbers(0..<10, in: database)
        try database.createIndex(on: "n")
        let query = DocumentQuery<JSONValue>().where { $0["n"] >= 0 }.sorted(by: "n")
        var pages = database.pages(of: query, size: 5).makeAsyncIterator()
        #expect(try await pages.next()?.rows.map(\.id) == ["d0", "d1", "d2", "d3", "d4"])
        try numbers([20], in: database)
        #expect(try await pages.next()?.rows.map(\.id) == ["d5", "d6", "d7", "d8", "d9"])
        #expect(try await pages.next()?.rows.map(\.id) == ["d20"])
        #expect(try await pages.next()?.rows == nil)
    }

    @Test func `a live query delivers its results now and then each change of them`() async throws {
        let database = try Database.plain()
        try numbers(0..<3, in: database)
        try database.createIndex(on: "n")
        var observation = database.observe(DocumentQuery<JSONValue>().where { $0["n"] >= 1 }).makeAsyncIterator()
        #expect(try await observation.next()?.rows.map(\.id) == ["d1", "d2"])
        try numbers([7], in: database)
        #expect(try await observation.next()?.rows.map(\.id) == ["d1", "d2", "d7"])
        // A document that does not match is not a change.
        try numbers([-1], in: database)
        var second = try #require(try database.document("d2"))
        second["n"] = 0
        try database.save(second, onConflict: .fail)
        #expect(try await observation.next()?.rows.map(\.id) == ["d1", "d7"])
        database.close()
        #expect(try await observation.next()?.rows == nil)
    }
}
