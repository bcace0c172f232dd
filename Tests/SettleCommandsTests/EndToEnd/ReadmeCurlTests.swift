import Foundation
import Settle
import SettleTesting
import Testing

/// The README's curl commands, verbatim, against a live server.
@Suite struct ReadmeCurlTests {
    @Test func `the commands of the README work`() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let lines = readme.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("SETTLE=") })
        #expect(lines[..<start].contains { $0.hasPrefix("make serve") })
        let calls = lines[(start + 1)...].prefix { $0 != "```" }.filter { $0.hasPrefix("curl") }
        #expect(calls.count >= 6)

        let room = try Room()
        let server = try room.start(["serve", "--data", room.path("data"), "--port", "0", "--json"], "serve")
        defer {
            server.terminate()
            server.waitForEnd()
        }
        let told = try room.firstOutput(of: server, "serve")
        let password = try #require(told["password"]?.string)
        let port = try #require(told["port"]?.int)
        let setting = lines[start].replacing("PASSWORD", with: password).replacing("5984", with: "\(port)")
        #expect(setting != lines[start])
        for call in calls {
            let line = call.replacing("curl ", with: "curl -sS --fail-with-body --max-time 300 ", maxReplacements: 1)
            let (status, output) = try shell(setting + "\n" + line)
            #expect(status == 0, "\(call): \(output)")
            #expect((try? JSONValue(parsing: output)).map { $0["error"] == nil } == true, "\(call): \(output)")
        }
        let (_, changes) = try shell(setting + "\ncurl -sS $SETTLE/groceries")
        #expect(try JSONValue(parsing: changes)["doc_count"] == 2)
    }

    private func shell(_ script: String) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["bash", "-c", script]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let status = process.waitForEnd()
        return (status, String(decoding: data, as: UTF8.self))
    }
}
