import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed while it is written to: what it acknowledged is there afterwards.
@Suite(.serialized) struct KilledServerTests {
    /// Starts the tool on a folder and returns it with its port.
    private func start(_ folder: TemporaryFolder) throws -> (process: Process, port: Int) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.deletingLastPathComponent().appending(path: "settle")
        process.arguments = ["serve", "--dir", folder.path, "--port", "0", "--admin", "admin", "--json"]
        process.environment = ProcessInfo.processInfo.environment.merging(["SETTLE_ADMIN_PASSWORD": "admin"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            line += piece
        }
        let told = try JSON(utf8: line)
        return (process, Int(told["port"]?.number?.description ?? "") ?? 0)
    }

    private func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test func `what was acknowledged before the kill is there after it`() throws {
        let folder = try TemporaryFolder()
        var acknowledged: Set<String> = []
        for round in 0..<3 {
            let (process, port) = try start(folder)
            defer { end(process) }
            let first = try RawConnection(port: port)
            try first.write(LiveServer.request("PUT", "/db"))
            _ = try first.readAnswer()
            try check(acknowledged, first)
            let writers = try (0..<8).map { _ in try RawConnection(port: port) }
            for number in 0..<40 {
                for (index, writer) in writers.enumerated() {
                    try writer.write(LiveServer.request("PUT", "/db/d\(round)-\(index)-\(number)", "{}"))
                }
                // In the last turn it is killed while the answers are under way.
                if number == 39 { kill(process.processIdentifier, SIGKILL) }
                for (index, writer) in writers.enumerated() {
                    guard let answer = try? writer.readAnswer(), answer.head.hasPrefix("HTTP/1.1 201") else { continue }
                    acknowledged.insert("d\(round)-\(index)-\(number)")
                }
            }
            #expect(acknowledged.count >= (round + 1) * 39 * 8)
        }
        let (process, port) = try start(folder)
        defer { end(process) }
        try check(acknowledged, RawConnection(port: port))
    }

    private func check(_ acknowledged: Set<String>, _ connection: RawConnection) throws {
        try connection.write(LiveServer.request("GET", "/db/_all_docs"))
        let rows = try JSON(utf8: connection.readAnswer().body)["rows"]?.array ?? []
        let stored = Set(rows.compactMap { $0["id"]?.string })
        #expect(acknowledged.subtracting(stored).isEmpty)
    }
}
