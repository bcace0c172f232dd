import Foundation
import SettleCore
import Testing

/// Recorded exchanges with a CouchDB 3.5.0: those of this repository, and the larger corpus if it is available.
enum ConformanceCases {
    /// Whether the corpus is available.
    static let isAtHand = FileManager.default.fileExists(atPath: folder.path)

    /// Why its tests are skipped if it is not.
    static let absence: Comment = "there is no corpus in \(folder.path): set SETTLE_CONFORMANCE to its folder"

    /// A recording of this repository.
    static func fixture(_ name: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONValue(utf8: [UInt8](Data(contentsOf: folder.appending(path: "Fixtures/\(name)"))))
    }

    /// The folder of case files: `SETTLE_CONFORMANCE/cases`, or the corpus beside the project.
    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] {
            return URL(fileURLWithPath: path).appendingPathComponent("cases")
        }
        return URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/conformance/cases")
            .standardized
    }()

    /// The names of the files of a topic; empty if the corpus is missing.
    static func files(of topic: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasPrefix(topic + "--") && $0.hasSuffix(".json") }.sorted()
    }

    static func load(_ name: String) throws -> JSONValue {
        try JSONValue(utf8: [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
    }
}
