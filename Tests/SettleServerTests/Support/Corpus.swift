import Foundation
import Settle

/// The recorded exchanges with a CouchDB, if they are available.
enum Corpus {
    /// A file of recorded exchanges, `TOPIC--NAME.json`.
    struct Case {
        let name: String
        let topic: String
        /// The number of its steps.
        let count: Int
        /// Whether a step expects something within a time, such as a heartbeat, or what is written while it waits.
        let isTimed: Bool
    }

    /// The program that replays them.
    static var replay: String? {
        guard let folder = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] else { return nil }
        let script = folder + "/replay.py"
        return FileManager.default.fileExists(atPath: script) ? script : nil
    }

    /// The recorded cases.
    static func cases() throws -> [Case] {
        guard let replay else { return [] }
        let folder = URL(filePath: replay).deletingLastPathComponent().appending(path: "cases")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().compactMap { file in
            guard file.hasSuffix(".json"), let end = file.firstRange(of: "--")?.lowerBound else { return nil }
            let recorded = try JSONValue(utf8: Array(Data(contentsOf: folder.appending(path: file))))
            let steps = all(recorded["steps"])
            return Case(
                name: String(file.dropLast(5)), topic: String(file[..<end]), count: steps.count,
                isTimed: steps.contains { step in
                    ["during", "stream", "poll", "sleep_ms", "timeout_s"].contains { step[$0] != nil }
                })
        }
    }

    /// Steps, and those that are done while one of them waits.
    private static func all(_ steps: JSONValue?) -> [JSONValue] {
        (steps?.array ?? []).flatMap { [$0] + all($0["during"]) }
    }
}
