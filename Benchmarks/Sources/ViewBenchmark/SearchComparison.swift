import Foundation
import Measuring
import Settle

/// Full-text search in documents with a title and a text of sixty words, from a vocabulary in which few words are frequent.
enum SearchComparison {
    static func run(_ count: Int, _ measuring: Measuring, folder: String) throws {
        let database = try Database.create(folder + "/search.settle")
        var generator = SystemRandomNumberGenerator()
        for start in stride(from: 0, to: count, by: 1000) {
            try database.transaction {
                for number in start..<min(start + 1000, count) {
                    let body: DocumentBody = [
                        "title": .string(words(5, &generator)), "text": .string(words(60, &generator)),
                        "n": .number(JSONNumber(number)),
                    ]
                    try database.save(
                        Document(id: try DocumentID(validating: "doc\(10_000_000 + number)"), body: body),
                        onConflict: .fail)
                }
            }
        }
        var build: [Double] = []
        for run in 0..<measuring.runs {
            let index = TextIndex("bench \(run)", fields: ["title", "text"])
            build.append(Double(count) / measuring.seconds { _ = try? database.count(of: "w1", in: index) })
        }
        let index = TextIndex("bench 0", fields: ["title", "text"])
        print(Measuring.pad("search index, documents per second", 34), Measuring.short(Measuring.median(build)))
        let searches = [
            ("a rare word", "w4000"), ("a frequent word", "w1"), ("two words", "w10 w20"), ("a beginning", "w39*"),
            ("a phrase", "\"w1 w2\""), ("in a field", "title:w10"),
        ]
        for (name, search) in searches {
            var times: [Double] = []
            for _ in 0..<measuring.runs * 4 {
                times.append(try measuring.seconds { _ = try database.search(search, in: index) } * 1000)
            }
            let found = try database.count(of: search, in: index)
            print(
                Measuring.pad("\(name), first 25 of \(found), ms", 44), Measuring.fixed(Measuring.median(times), 2))
        }
        var change: [Double] = []
        for number in 0..<50 {
            let id = try DocumentID(validating: "doc\(10_000_000 + number)")
            guard var document = try database.document(id) else { continue }
            document["title"] = .string(words(5, &generator))
            try database.save(document, onConflict: .fail)
            change.append(try measuring.seconds { _ = try database.search("w4000", in: index) } * 1000)
        }
        print(Measuring.pad("follow one change and search, ms", 44), Measuring.fixed(Measuring.median(change), 2))
    }

    /// Words of which the n-th is about n times as rare as the first.
    private static func words(_ count: Int, _ generator: inout some RandomNumberGenerator) -> String {
        (0..<count).map { _ in
            let place = pow(5000, Double.random(in: 0..<1, using: &generator))
            return "w\(Int(place))"
        }.joined(separator: " ")
    }
}
