import Foundation
import RevisionTree
import Testing

/// The recorded exchanges with a CouchDB 3.5.0, where the corpus is at hand.
enum ConformanceCases {
    /// The folder of case files: `SETTLE_CONFORMANCE/cases`, or the corpus beside the project.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] {
            return URL(fileURLWithPath: path).appendingPathComponent("cases")
        }
        return URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/conformance/cases")
            .standardized
    }()

    /// The names of the files of a topic; empty where the corpus is missing.
    static func files(of topic: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasPrefix(topic + "--") && $0.hasSuffix(".json") }.sorted()
    }

    static func load(_ name: String) throws -> JSON {
        try JSON(utf8: [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
    }
}
