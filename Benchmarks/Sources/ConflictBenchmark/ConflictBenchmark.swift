import Foundation
import Measuring
import Settle

/// Conflicts: `ConflictBenchmark [documents] [runs]`; or settling alone, for a profiler: `ConflictBenchmark settle
/// [documents]`.
@main
struct ConflictBenchmark {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let isProfile = CommandLine.arguments.dropFirst().first == "settle"
        let measuring = Measuring(runs: isProfile ? 1 : arguments.dropFirst().first ?? 5)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settle-bench-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let comparison = try ConflictComparison(
            count: arguments.first ?? 10_000, measuring: measuring, folder: folder)
        if isProfile { return try comparison.settling(.normal, amount: comparison.count) }
        try comparison.run()
    }
}
