import Foundation
import SettleCore

@testable import SettleQuery

/// A folder of the JSON Schema test suite, run through ``JSONSchema``.
struct SchemaSuite {
    /// How many cases of how many files had the suite's outcome.
    var passed = 0
    var files = 0
    /// Groups whose schema is refused, as `file: group`, with the code.
    var refused: [String: String] = [:]
    /// Cases with another outcome than the suite's, as `file: group: case`.
    var failed: Set<String> = []

    /// Runs all files in a folder without its subfolders; `optional` has what an implementation may omit.
    init(folder: String, checksFormats: Bool = false) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where name.hasSuffix(".json") {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
            files += 1
            for group in try JSONValue(utf8: Array(data)).array ?? [] {
                run(group, of: String(name.dropLast(5)), checksFormats)
            }
        }
    }

    private mutating func run(_ group: JSONValue, of file: String, _ checksFormats: Bool) {
        let title = "\(file): \(group["description"]?.string ?? "")"
        do {
            let schema = try JSONSchema(group["schema"] ?? .null, checksFormats: checksFormats)
            for test in group["tests"]?.array ?? [] {
                if schema.problems(in: test["data"] ?? .null).isEmpty == test["valid"]?.bool {
                    passed += 1
                } else {
                    failed.insert("\(title): \(test["description"]?.string ?? "")")
                }
            }
        } catch {
            refused[title] = error.code.description
        }
    }
}
