import Foundation
import FuzzTargets

/// The fuzzers' seeds, in `Fuzz/Corpus`, one folder per target.
enum Corpus {
    static func seeds(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        // This file is in Tests/FuzzTests.
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "Fuzz/Corpus/\(target.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
