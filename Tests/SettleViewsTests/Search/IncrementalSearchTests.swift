import PostgresTesting
import Settle
import SettleTesting
import Testing

/// An index that follows changes finds the same as one that is built from scratch, in the same order.
struct IncrementalSearchTests {
    private static let vocabulary = [
        "red", "green", "blue", "Café", "cafe", "old", "older", "日本", "naïve", "e\u{301}t", "x-y", "don't", "ß", "",
    ]
    private static let searches = [
        "red", "cafe", "old*", "red green", "red OR blue", "red NOT green", "\"red green\"", "a:red",
        "b.c:(old OR blue)",
        "\"red blue\"~2", "x-y", "日本", "n*", "don't",
    ]

    @Test(arguments: 1...10) func `an incremental update gives the same results as a rebuild`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let database = try Database.plain()
        let fields: [[TextIndexField]] = [[], ["a", "b.c"]]
        for step in 0..<24 {
            try database.transaction {
                for _ in 0..<Int.random(in: 1...40, using: &generator) { try Self.change(database, &generator) }
            }
            for fields in fields {
                let followed = TextIndex("followed \(fields.count)", fields: fields)
                _ = try database.count(of: "red", in: followed)
                guard step % 6 == 5 else { continue }
                let fresh = TextIndex("fresh \(step) \(fields.count)", fields: fields)
                for search in Self.searches where !fields.isEmpty || !search.contains(":") {
                    let found = try database.search(search, in: followed, limit: .max)
                    #expect(try found == database.search(search, in: fresh, limit: .max), "seed \(seed), \(search)")
                    #expect(try database.count(of: search, in: followed) == found.count)
                    #expect(found.allSatisfy { !$0.snippets.isEmpty })
                    let tombstones = try found.filter { try database.document($0.id) == nil }
                    #expect(tombstones.isEmpty, "seed \(seed), \(search)")
                }
            }
        }
    }

    private static func words(_ generator: inout SeededRandom) -> JSONValue {
        let count = Int.random(in: 0...6, using: &generator)
        return .string(
            (0..<count).map { _ in vocabulary.randomElement(using: &generator) ?? "" }.joined(separator: " "))
    }

    private static func change(_ database: Database, _ generator: inout SeededRandom) throws {
        let id = DocumentID(stringLiteral: "d\(Int.random(in: 0..<120, using: &generator))")
        let body: DocumentBody = [
            "a": words(&generator), "b": ["c": [words(&generator), words(&generator)]],
            "n": .number(JSONNumber(Int.random(in: 0..<9, using: &generator))),
        ]
        try database.change(id, to: body, &generator)
    }
}
