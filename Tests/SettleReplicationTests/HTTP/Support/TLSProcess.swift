import Foundation
import SettlePlatform
import SettleTesting

/// A TLS server that asks for client certificates: `openssl s_server`, until the object is released.
final class TLSProcess {
    let port: Int
    private let process = Process()
    private let output = Pipe()

    /// - Parameter folder: The folder of `server.pem`, `server-key.pem` and the clients' root `client.pem`.
    /// - Throws: If it can't be started.
    init(folder: String) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server-key.pem", "-CAfile",
            "client.pem", "-Verify", "1", "-verify_return_error", "-www",
        ]
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("ACCEPT ") || !text.hasSuffix("\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw RawPeer.Failure("openssl s_server: \(text)") }
            text += String(decoding: piece, as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") } ?? ""
        port = Int(line.split(separator: ":").last ?? "") ?? 0
        // Later output is discarded; otherwise the process would block without a reader.
        output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    deinit {
        // It inherits the signals that the tasks' threads block, but this one can't be blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitForEnd()
    }
}
