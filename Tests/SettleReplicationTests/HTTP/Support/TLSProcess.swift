import Foundation
import SettlePlatform
import SettleTesting
import Testing

/// A TLS server that asks for client certificates: `openssl s_server`, until the object is released.
final class TLSProcess {
    let port: Int
    private let process: Process

    /// - Parameter folder: The folder of `server.pem`, `server-key.pem` and the clients' root `client.pem`.
    /// - Throws: If it can't be started.
    init(folder: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server-key.pem", "-CAfile",
            "client.pem", "-Verify", "1", "-verify_return_error", "-www",
        ]
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardInput = FileHandle.nullDevice
        // A file takes all output without a reader. A handler that reads a pipe ends together with its file handle, and
        // libdispatch crashed at that.
        let output = URL(filePath: folder).appending(path: "s_server-\(UUID().uuidString).txt")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        waitUntil("openssl s_server listens") {
            text = try String(contentsOf: output, encoding: .utf8)
            return !process.isRunning || text.contains("ACCEPT ") && text.hasSuffix("\n")
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
        guard let line, let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            throw RawPeer.Failure("openssl s_server: \(text)")
        }
        (self.process, self.port) = (process, port)
    }

    deinit {
        // It inherits the signals that the tasks' threads block, but this one can't be blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitForEnd()
    }
}
