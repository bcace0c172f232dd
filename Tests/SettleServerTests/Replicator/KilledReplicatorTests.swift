import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed: what its documents ask for goes on when it is started again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KilledReplicatorTests {
    @Test func `a continuous replication goes on after kill -9, a completed one does not begin again`() async throws {
        let (folder, far) = (try TemporaryFolder(), try LiveServer())
        for name in ["on", "once"] { #expect(try await far.ask("PUT", "/\(name)").status == 201) }
        var near = try ServedFolder(folder)
        #expect(try near.ask("PUT", "/a").hasPrefix("HTTP/1.1 201"))
        #expect(try near.ask("PUT", "/a/x", "{}").hasPrefix("HTTP/1.1 201"))
        for (name, isContinuous) in [("on", true), ("once", false)] {
            let body: JSON = [
                "source": .string("http://admin:admin@127.0.0.1:\(near.port)/a"),
                "target": .string("http://admin:admin@127.0.0.1:\(far.port)/\(name)"),
                "continuous": .bool(isContinuous),
            ]
            #expect(try near.ask("PUT", "/_replicator/\(name)", body.description).hasPrefix("HTTP/1.1 201"))
        }
        try await far.wait(for: "/on/x")
        try await far.wait(for: "/once/x")
        while try !near.ask("GET", "/_replicator/once").contains("completed") {
            try await Task.sleep(for: .milliseconds(20))
        }
        let port = near.port
        near.kill()

        near = try ServedFolder(folder, port: port)
        #expect(try near.ask("PUT", "/a/y", "{}").hasPrefix("HTTP/1.1 201"))
        try await far.wait(for: "/on/y")
        #expect(try await far.ask("GET", "/once/y").status == 404)
        #expect(try near.ask("GET", "/_scheduler/docs/_replicator/once").contains("completed"))
        near.kill()
    }
}

/// A `settle serve` of its own process.
private final class ServedFolder {
    let port: Int
    private let process = Process()

    init(_ folder: TemporaryFolder, port: Int = 0) throws {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.executableURL = tests.deletingLastPathComponent().appending(path: "settle")
        process.arguments = ["serve", "--dir", folder.path, "--port", "\(port)", "--admin", "admin", "--json"]
        process.environment = ProcessInfo.processInfo.environment.merging(["SETTLE_ADMIN_PASSWORD": "admin"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            line += piece
        }
        self.port = try #require(try JSON(utf8: line)["port"]?.int)
    }

    deinit { if process.isRunning { kill() } }

    /// The answer to a request of the administrator's, with its head.
    func ask(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
        let connection = try RawConnection(port: port)
        try connection.write(LiveServer.request(method, path, body))
        let answer = try connection.readAnswer()
        return answer.head + String(decoding: answer.body, as: UTF8.self)
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
