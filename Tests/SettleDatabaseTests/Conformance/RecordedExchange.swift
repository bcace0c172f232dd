import Foundation
import Settle
import SettleTesting
import Testing

/// Recorded exchanges with a CouchDB 3.5.0: those of this repository, and the larger corpus if it is available.
enum RecordedExchange {
    /// Whether the corpus is available.
    static let isAtHand = FileManager.default.fileExists(atPath: folder.path)

    /// Why its tests are skipped if it is not.
    static let absence: Comment = "there is no corpus in \(folder.path): set SETTLE_CONFORMANCE to its folder"

    /// The steps of the revision ids that are recorded in this repository.
    static func revisionIDs() throws -> [JSONValue] {
        let file = URL(filePath: #filePath).appending(path: "../../../SettleCoreTests/Fixtures/revision-ids.json")
        return try #require(try JSONValue(utf8: [UInt8](Data(contentsOf: file.standardized)))["steps"]?.array)
    }

    /// The folder of case files: `SETTLE_CONFORMANCE/cases`, or the corpus beside the project.
    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] {
            return URL(fileURLWithPath: path).appendingPathComponent("cases")
        }
        return URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/conformance/cases")
            .standardized
    }()

    /// The names of the files with a prefix; empty if the corpus is missing.
    static func files(_ prefix: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
    }

    /// The steps of a file.
    static func steps(_ name: String) throws -> [JSONValue] {
        let file = try JSONValue(utf8: [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
        return file["steps"]?.array ?? []
    }
}

extension JSONValue {
    /// The elements of a recorded list, in whatever order they may come.
    var unordered: Set<String> { Set((self["$unordered"] ?? self).array?.compactMap(\.string) ?? []) }
}
