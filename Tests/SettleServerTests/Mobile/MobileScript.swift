import Foundation

@testable import SettleServer

/// Runs the clients of `Tests/Mobile` against a server.
enum MobileScript {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Mobile").standardized

    /// Runs a script with the server's port and further words.
    static func run(
        _ script: String, _ live: LiveServer, _ words: [String]
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", folder.appending(path: script).path, "\(live.port)"] + words
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try await process.runToEnd()
        return (process.terminationStatus, String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self))
    }
}
