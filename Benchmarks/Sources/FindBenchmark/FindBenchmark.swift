import Foundation
import Measuring
import Settle

/// Queries by selector: `FindBenchmark [documents] [runs]`; what a live query and an order without an index cost:
/// `FindBenchmark live [documents]`.
@main
struct FindBenchmark {
    private struct Item: Codable, Sendable {
        var n: Int
        var group: Int
        var name: String
        var price: Double
    }

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        if words.first == "live" {
            return try await LiveCosts(documents: words.dropFirst().first.flatMap { Int($0) } ?? 10_000).run()
        }
        try measure()
    }

    private static func measure() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let count = arguments.first ?? 50_000
        let measuring = Measuring(runs: arguments.dropFirst().first ?? 5)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settle-bench-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try Database.create(folder + "/find.settle")
        for start in stride(from: 0, to: count, by: 1000) {
            try database.transaction {
                for number in start..<min(start + 1000, count) {
                    try database.save(document(number), onConflict: .fail)
                }
            }
        }
        var rates: [(String, [Double])] = [
            ("build, documents per second", []), ("1,000 rows as models, rows/s", []),
            ("1,000 rows as JSON, rows/s", []),
            ("1,000 covered rows, rows/s", []), ("1 row, queries per second", []),
        ]
        for run in 0..<measuring.runs {
            let index = try database.createIndex(on: "n", "group", name: "run\(run)")
            let low = run * 1000 % max(count - 1000, 1)
            let range = DocumentQuery<Item>().where { $0["n"] >= .number(JSONNumber(low)) && $0["group"].exists }
            rates[0].1.append(
                try measuring.rate(of: count) { _ = try database.find(range.prefix(1)) })
            rates[1].1.append(try measuring.rate(of: 1000) { _ = try database.find(range.prefix(1000)) })
            let json = DocumentQuery<JSONValue>(try range.selector()).prefix(1000)
            rates[2].1.append(try measuring.rate(of: 1000) { _ = try database.find(json) })
            rates[3].1.append(
                try measuring.rate(of: 1000) { _ = try database.find(json.selecting("n", "group")) })
            rates[4].1.append(
                try measuring.rate(of: 1000) {
                    for number in 0..<1000 {
                        let wanted = JSONValue.number(JSONNumber((low + number * 7) % count))
                        _ = try database.find(DocumentQuery<Item>().where { $0["n"] == wanted && $0["group"].exists })
                    }
                })
            try database.deleteIndex(index)
        }
        print("\(count) documents, medians of \(measuring.runs) runs")
        for (name, values) in rates {
            print(Measuring.pad(name, 34), Measuring.short(Measuring.median(values)))
        }
    }

    static func document(_ number: Int) throws -> Document {
        let body: DocumentBody = [
            "type": "item", "n": .number(JSONNumber(number)), "group": .number(JSONNumber(number % 100)),
            "name": .string("Item number \(number)"), "tags": ["a", "b", .string("t\(number % 17)")],
            "text": .string(String(repeating: "x", count: 280)),
            "price": .number(JSONNumber(Double(number) * 0.25) ?? JSONNumber(0)),
            "owner": ["id": .number(JSONNumber(number % 1000)), "name": .string("Owner \(number % 1000)")],
        ]
        return Document(id: try DocumentID(validating: "doc\(10_000_000 + number)"), body: body)
    }
}

extension Measuring {
    /// The rate per second at which a closure processes `count` items.
    fileprivate func rate(of count: Int, _ body: () throws -> Void) rethrows -> Double {
        Double(count) / (try seconds(body))
    }
}
