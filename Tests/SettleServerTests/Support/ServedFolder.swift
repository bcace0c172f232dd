import Foundation
import Settle
import SettleTesting
import Testing

/// A `settle serve` in its own process, which is killed when the object is released.
final class ServedFolder {
    /// The port it listens on.
    let port: Int
    private let process = Process()
    /// Has the file of its error messages.
    private let logs: TemporaryFolder

    /// Starts it with further options and environment variables, and waits until it listens.
    init(
        _ folder: TemporaryFolder, port: Int = 0, options: [String] = [], _ environment: [String: String] = [:]
    ) throws {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.executableURL = tests.deletingLastPathComponent().appending(path: "settle")
        process.arguments =
            ["serve", "--dir", folder.path, "--port", "\(port)", "--admin", "admin", "--json"] + options
        process.environment = ProcessInfo.processInfo.environment.merging(["SETTLE_ADMIN_PASSWORD": "admin"]) { $1 }
            .merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        logs = try TemporaryFolder()
        let errors = URL(filePath: logs("errors"))
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            line += piece
        }
        let port = (try? JSONValue(utf8: line))?["port"]?.int
        let printed = String(decoding: try line + Data(contentsOf: errors), as: UTF8.self)
        self.port = try #require(port, "settle serve printed: \(printed)")
    }

    /// Starts it on a port at which it can be started again: the system gives that to no program that lets it choose.
    static func restartable(_ folder: TemporaryFolder) throws -> ServedFolder {
        for _ in 0..<20 {
            if let served = try? ServedFolder(folder, port: .random(in: 20_000..<32_000)) { return served }
        }
        return try ServedFolder(folder)
    }

    deinit { if process.isRunning { kill() } }

    /// Whether the process is running.
    var isRunning: Bool { process.isRunning }

    /// The answer to a request as the administrator, with its head.
    func ask(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
        let answer = try answer(method, path, body)
        return answer.head + String(decoding: answer.body, as: UTF8.self)
    }

    /// The body of the answer to a request as the administrator.
    func json(_ method: String, _ path: String, _ body: String? = nil) throws -> JSONValue {
        let answer = try answer(method, path, body)
        let text = String(decoding: answer.body, as: UTF8.self)
        return try #require(try? JSONValue(utf8: answer.body), "\(method) \(path): \(answer.head)\(text)")
    }

    private func answer(_ method: String, _ path: String, _ body: String?) throws -> (head: String, body: [UInt8]) {
        let connection = try RawConnection(port: port)
        try connection.write(LiveServer.request(method, path, body))
        let answer = try connection.readAnswer()
        return (answer.head, answer.body)
    }

    /// Asks it to stop, and waits until it has ended.
    ///
    /// - Returns: The exit status as a shell has it: for a signal, 128 and its number.
    func terminate() -> Int32 {
        Foundation.kill(process.processIdentifier, SIGTERM)
        return process.waitForEnd()
    }

    /// Kills it immediately.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitForEnd()
    }
}
