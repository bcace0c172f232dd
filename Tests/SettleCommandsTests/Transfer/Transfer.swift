import Foundation
import Settle
import SettleImport

@testable import SettleCommands

/// Imports from and exports to texts.
enum Transfer {
    static func load(
        _ text: String, into database: Database, _ options: RecordImporter.Options = RecordImporter.Options()
    ) throws -> (counts: RecordImporter.Counts, failures: [String]) {
        var failures: [String] = []
        var rest = [Array(text.utf8)]
        let importer = RecordImporter(DatabaseImportStore(database), options: options) { failures.append($0.description) }
        try importer.run(RecordReader { rest.popLast() ?? [] }) { _ in }
        return (importer.counts, failures)
    }

    static func export(_ database: Database, _ options: Exporter.Options = Exporter.Options()) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let output = try ByteOutput(path: path)
        try Exporter(to: output, options: options).run(database) { _ in }
        try output.finish()
        return try String(contentsOfFile: path, encoding: .utf8)
    }
}
