import Foundation
import Measuring
import Settle

/// Settle's store against the floor, in the same run: `StoreBenchmark [documents] [runs]`; or only the documents, as JSON
/// lines for the tool: `StoreBenchmark documents [count]`; or the cost of stamping changes: `StoreBenchmark clocks [count]`;
/// or only the journal: `StoreBenchmark journal [documents] [runs]`; or an import of random ids: `StoreBenchmark import [documents]`.
@main
struct StoreBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let count = arguments.first ?? 100_000
        if CommandLine.arguments.dropFirst().first == "documents" { return Sample.printLines(count) }
        let measuring = Measuring(runs: arguments.dropFirst().first ?? 5)
        if CommandLine.arguments.dropFirst().first == "clocks" {
            return try ClockComparison(count: count, measuring: measuring).run()
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settle-bench-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if CommandLine.arguments.dropFirst().first == "journal" {
            return try JournalComparison(count: count, measuring: measuring, folder: folder).run()
        }
        if CommandLine.arguments.dropFirst().first == "import" {
            return try ImportComparison(count: count, folder: folder).run()
        }
        try StoreComparison(count: count, measuring: measuring, folder: folder).run()
    }
}
