import Foundation
import Settle
import SettleTesting
import Testing

/// The recorded exchanges with a CouchDB 3.5.0, where the corpus is at hand.
enum RecordedExchange {
    /// The folder of case files: `SETTLE_CONFORMANCE/cases`, or the corpus beside the project.
    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] {
            return URL(fileURLWithPath: path).appendingPathComponent("cases")
        }
        return URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/conformance/cases")
            .standardized
    }()

    /// The names of the files that begin in a way; empty where the corpus is missing.
    static func files(_ prefix: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
    }

    /// The steps of a file.
    static func steps(_ name: String) throws -> [JSON] {
        let file = try JSON(utf8: [UInt8](Data(contentsOf: folder.appendingPathComponent(name))))
        return file["steps"]?.array ?? []
    }
}

extension JSON {
    /// The elements of a recorded list, in whatever order they may come.
    var unordered: Set<String> { Set((self["$unordered"] ?? self).array?.compactMap(\.string) ?? []) }
}
