import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed while it builds an index: the index goes on from there, and has all rows once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KilledIndexTests {
    private static let count = 3000

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
        return (process, Int(try JSON(utf8: line)["port"]?.number?.description ?? "") ?? 0)
    }

    private func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func send(_ port: Int, _ method: String, _ path: String, _ body: String? = nil) throws -> JSON {
        let connection = try RawConnection(port: port, seconds: 120)
        try connection.write(LiveServer.request(method, path, body))
        return try JSON(utf8: connection.readAnswer().body)
    }

    @Test func `an index whose building was cut is whole in the end`() throws {
        let folder = try TemporaryFolder()
        let view = "/db/_design/d/_view/v"
        do {
            let (process, port) = try start(folder)
            defer { end(process) }
            _ = try send(port, "PUT", "/db")
            let map = "function (doc) { emit(doc._id, 1); emit([doc.n], 2) }"
            _ = try send(port, "PUT", "/db/_design/d", #"{"views":{"v":{"map":"\#(map)","reduce":"_sum"}}}"#)
            let documents = (0..<Self.count).map { #"{"_id":"d\#($0)","n":\#($0 % 10)}"# }.joined(separator: ",")
            _ = try send(port, "POST", "/db/_bulk_docs", #"{"docs":[\#(documents)]}"#)
        }
        for round in 0..<4 {
            let (process, port) = try start(folder)
            defer { end(process) }
            // Nobody waits for the answer to what is asked here.
            let connection = try RawConnection(port: port, seconds: 120)
            try connection.write(LiveServer.request("GET", view))
            _ = try send(port, "PUT", "/db/more\(round)", #"{"n":0}"#)
        }
        let (process, port) = try start(folder)
        defer { end(process) }
        let sum = try send(port, "GET", view)["rows"]?[0]?["value"]?.int
        #expect(sum == (Self.count + 4) * 3)
        #expect(try send(port, "GET", view + "?reduce=false&limit=0")["total_rows"]?.int == (Self.count + 4) * 2)
    }
}
