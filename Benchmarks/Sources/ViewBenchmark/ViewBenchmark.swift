import Foundation
import Measuring
import Settle

/// Views of closures, and full-text search: `ViewBenchmark [documents] [runs]`.
@main
struct ViewBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let count = arguments.first ?? 50_000
        let measuring = Measuring(runs: arguments.dropFirst().first ?? 5)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settle-bench-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try Database.create(folder + "/views.settle")
        for start in stride(from: 0, to: count, by: 1000) {
            try database.transaction {
                for number in start..<min(start + 1000, count) {
                    try database.save(document(number), onConflict: .fail)
                }
            }
        }
        var build: [Double] = []
        var read: [Double] = []
        var change: [Double] = []
        for run in 0..<measuring.runs {
            let view = MapIndex<JSONValue, Double>("bench", version: run) { item, emit in
                guard item["type"] == "item", let group = item["group"], let name = item["name"] else { return }
                emit([group, name], item["price"]?.double ?? 0)
            }
            build.append(measuring.rate(of: count) { _ = try? database.count(of: view) })
            read.append(measuring.rate(of: count) { _ = try? database.rows(of: view) })
            for number in 0..<20 {
                var item =
                    try database.document(DocumentID(validating: "doc\(10_000_000 + number)")) ?? document(number)
                item["price"] = .number(JSONNumber(run + number))
                try database.save(item, onConflict: .fail)
                change.append(try measuring.seconds { _ = try database.count(of: view) } * 1000)
            }
        }
        print("\(count) documents, medians of \(measuring.runs) runs")
        print(Measuring.pad("build, documents per second", 34), Measuring.short(Measuring.median(build)))
        print(Measuring.pad("read all, typed rows per second", 34), Measuring.short(Measuring.median(read)))
        print(Measuring.pad("follow one change, ms", 34), Measuring.fixed(Measuring.median(change), 2))
        try SearchComparison.run(count, measuring, folder: folder)
    }

    private static func document(_ number: Int) throws -> Document {
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
    fileprivate func rate(of count: Int, _ body: () -> Void) -> Double { Double(count) / seconds(body) }
}
