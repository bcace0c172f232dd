import Foundation

/// The recorded exchanges with a CouchDB, if they are available.
enum Corpus {
    /// The program that replays them.
    static var replay: String? {
        guard let folder = ProcessInfo.processInfo.environment["SETTLE_CONFORMANCE"] else { return nil }
        let script = folder + "/replay.py"
        return FileManager.default.fileExists(atPath: script) ? script : nil
    }

    /// The topics of the recorded cases.
    static func topics() throws -> Set<String> {
        guard let replay else { return [] }
        let cases = URL(filePath: replay).deletingLastPathComponent().appending(path: "cases").path
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: cases).compactMap { name in
                name.firstRange(of: "--").map { String(name[..<$0.lowerBound]) }
            })
    }
}
