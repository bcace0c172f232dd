import PostgresTesting
import Settle
import SettleDatabase
import SettleQuery
import SettleTesting
import SettleViews
import Testing

/// A query with `$text` finds what testing each document would find.
struct TextQueryPropertyTests {
    private static let words = ["red", "blue", "cat", "dog", "Käse", "42"]

    @Test(arguments: 1...16)
    func `full-text search with conditions by an index equals a filter of all documents`(seed: UInt64) throws {
        var questions = RandomQuestions(seed: seed)
        let database = try Database.plain()
        try database.createTextIndex(on: "words")
        for round in 0..<4 {
            for _ in 0..<30 { try change(database, &questions) }
            for _ in 0..<12 { try ask(database, &questions, "seed \(seed), round \(round)") }
        }
    }

    private func change(_ database: Database, _ questions: inout RandomQuestions) throws {
        let id = DocumentID(stringLiteral: questions.id())
        let known = try database.document(id)
        if let known, questions.random.oneIn(5) {
            try database.delete(known, onConflict: .fail)
            return
        }
        var members = questions.body().json.object ?? JSONObject()
        let words = (0..<questions.random.below(6)).map { _ in questions.pick(Self.words) }
        members["words"] = .string(words.joined(separator: questions.pick([" ", ", ", "-"])))
        var document = known ?? Document(id: id)
        document.json = .object(members)
        try database.save(document, onConflict: .fail)
    }

    private func ask(_ database: Database, _ questions: inout RandomQuestions, _ place: String) throws {
        guard let rest = try? MangoSelector(questions.selector()), !rest.isVacuous else { return }
        let wanted = (0...questions.random.below(3)).map { _ in questions.pick(Self.words) }
        let search = "words:(\(wanted.joined(separator: " ")))"
        let selector = try MangoSelector(["$and": [["$text": .string(search)], rest.json]])
        let note = Comment(rawValue: "\(place): \(selector)")
        let expected = try database.documents().filter { document in
            let words = (document["words"]?.string ?? "").split { !$0.isLetter && !$0.isNumber }
            return !document.id.isDesign && words.contains { wanted.contains(String($0)) } && rest.matches(document)
        }
        let ids = expected.map(\.id.string).sorted()
        #expect(try database.find(DocumentQuery<JSONValue>(selector)).rows.map(\.id.string).sorted() == ids, note)

        let isDescending = questions.random.oneIn(2)
        let sort: SortField = isDescending ? .descending("a") : .ascending("a")
        let order = expected.filter { $0["a"] != nil }.sorted { left, right in
            let places = [left, right].map { ($0["a"] ?? .null, $0.id.string) }
            switch Collation.compare(places[0].0, places[1].0) {
            case .before: return !isDescending
            case .after: return isDescending
            case .same: return (places[0].1.utf8.lexicographicallyPrecedes(places[1].1.utf8)) != isDescending
            }
        }
        let size = 1 + questions.random.below(7)
        let sorted = DocumentQuery<JSONValue>(selector).sorted(by: sort)
        #expect(try pages(of: sorted, size, in: database) == order.map(\.id.string), "\(note) sorted by \(size)")
        #expect(try pages(of: DocumentQuery(selector), size, in: database).sorted() == ids, "\(note) by \(size)")
    }

    private func pages(of query: DocumentQuery<JSONValue>, _ size: Int, in database: Database) throws -> [String] {
        var found: [String] = []
        var query = query.prefix(size)
        for _ in 0...100 {
            let page = try database.find(query)
            found += page.rows.map(\.id.string)
            if page.rows.isEmpty { break }
            query = query.after(page.bookmark)
        }
        return found
    }
}
