import Foundation
import SettleTesting
import Testing

/// The repository these tests were built from.
struct Repository {
    static let shared = Repository()

    let root: URL

    /// Every file that belongs to the repository, as paths from its root: tracked, or new and not ignored.
    let paths: [String]

    /// The text files among them, without those that a script made of others for browsers.
    let files: [SourceFile]

    private init() {
        // This file is in Tests/TidyTests.
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let listed = Repository.listedByGit(root) ?? Repository.foundByWalking(root)
        self.root = root
        paths = listed.filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path) }.sorted()
        files = paths.filter { !$0.hasPrefix("Sources/CConsole/built/") }.compactMap { path in
            guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
            return SourceFile(path: path, text: text)
        }
    }

    /// Swift files of the package's targets.
    var sources: [SourceFile] { files.filter { $0.path.hasPrefix("Sources/") && $0.path.hasSuffix(".swift") } }

    func file(_ path: String) -> SourceFile? { files.first { $0.path == path } }

    /// What a command of git prints here; `nil` without git, and if it fails.
    func git(_ arguments: [String]) -> String? { Repository.git(root, arguments) }

    private static func git(_ root: URL, _ arguments: [String]) -> String? {
        let git = Process()
        git.executableURL = URL(filePath: "/usr/bin/env")
        git.arguments = ["git", "-C", root.path] + arguments
        let output = Pipe()
        git.standardOutput = output
        git.standardError = FileHandle.nullDevice
        git.standardInput = FileHandle.nullDevice
        guard (try? git.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return git.waitForEnd() == 0 ? String(decoding: data, as: UTF8.self) : nil
    }

    private static func listedByGit(_ root: URL) -> [String]? {
        let listed = git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        let paths = listed?.split(separator: "\0").map(String.init) ?? []
        return paths.isEmpty ? nil : paths
    }

    /// For a copy without git: everything except build products and git's own files.
    private static func foundByWalking(_ root: URL) -> [String] {
        let skipped: Set = [".git", ".build", ".swiftpm"]
        var paths: [String] = []
        guard let walk = FileManager.default.enumerator(atPath: root.path) else { return [] }
        while let path = walk.nextObject() as? String {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            let isFolder = walk.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            if skipped.contains(name) { walk.skipDescendants() } else if !isFolder { paths.append(path) }
        }
        return paths
    }
}

extension Repository: CustomTestStringConvertible {
    /// A failed expectation prints this, and not all files.
    var testDescription: String { "the repository" }
}
