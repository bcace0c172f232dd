import Foundation
import Settle
import Testing

/// The tool as a server, in a process of its own.
@Suite struct ServeCommandTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `it says where it listens, answers, and ends when it is told to`(signal: Int32) throws {
        let room = try Room()
        let process = try room.start(["serve", "--dir", room.path("data"), "--port", "0", "--json"], "serve")
        defer { if process.isRunning { process.terminate() } }
        var told = JSON.null
        for _ in 0..<500 where told == .null {
            usleep(10_000)
            told = (try? JSON(utf8: Array(room.contents(of: "out-serve")))) ?? .null
        }
        #expect(told["ok"] == true && told["dir"]?.string == room.path("data"))
        let url = try #require(told["url"]?.string)
        #expect(url == "http://127.0.0.1:\(told["port"]?.int ?? 0)/")
        let root = try get(url)
        #expect(root["couchdb"] == "Welcome")
        #expect(try get(url + "nope")["reason"] == "Database does not exist.")
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    @Test func `an address that is taken is told`() throws {
        let room = try Room()
        let outcome = try room.run("serve", "--dir", "data", "--bind", "192.0.2.1", "--json")
        #expect(outcome.status == 8 && outcome.error["error"] == "listen")
    }

    private func get(_ url: String) throws -> JSON {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-sS", "--max-time", "10", url]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        curl.waitUntilExit()
        return try JSON(utf8: Array(data))
    }
}
