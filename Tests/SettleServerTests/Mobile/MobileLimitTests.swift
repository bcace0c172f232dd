import Foundation
import Settle
import SettleMobile
import SettleTesting
import Testing

@testable import SettleServer

/// What Couchbase Lite meets beside clients of CouchDB, over real sockets, by the rules of its core (`Tests/Mobile/odd.py`).
@Suite(.timeLimit(.minutes(10))) struct MobileLimitTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Mobile/odd.py").standardized

    private func expect(_ scenario: String, _ change: (inout ServerOptions) -> Void = { _ in }) async throws {
        let live = try LiveServer(change)
        try live.server.state.create("db")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.script.path, "\(live.port)", "db", scenario]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try await process.runToEnd()
        let output = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
        #expect(process.terminationStatus == 0 && output.contains("all is as expected"), "\(output)")
    }

    @Test func `a document with blobs and an attachment of a client of CouchDB reaches each device`() async throws {
        try await expect("attachments")
    }

    @Test func `contents up to 20 MiB pass, and what is larger is an error of its document alone`() async throws {
        try await expect("sizes")
    }

    @Test func `large contents that are asked for at once come one after the other`() async throws {
        try await expect("several")
    }

    @Test func `a client that asks for more and more and takes nothing is closed`() async throws {
        try await expect("flood")
    }

    @Test func `blobs that a client of CouchDB changes, keeps or moves reach each device`() async throws {
        try await expect("edited")
    }

    @Test func `what a device can't store is not offered, and is in the ledger and once in the log`() async throws {
        let folder = try TemporaryFolder()
        let log = try ServerLog(format: .json, events: .file("\(folder.path)/log"))
        try await expect("limits") { $0.log = log }
        log.close()
        let lines = try String(contentsOfFile: "\(folder.path)/log", encoding: .utf8).split(separator: "\n")
        let leftOut = lines.filter { $0.contains("not offered to Couchbase Lite") }
        #expect(leftOut.count == 8, "\(lines)")
    }

    @Test(arguments: [
        (#"{"":1}"#, true), (#"{"a":{"b":[[{"" : null}]]}}"#, true), (#"{"a":"","b":[""],"c\"":1}"#, false),
        (#"{"a":"\"\":"}"#, false), ("{}", false),
    ])
    func `a body with an empty name anywhere is one that Couchbase Lite can't take`(text: String, isFaulty: Bool) throws
    {
        #expect((MobileLimits.fault(in: try DocumentBody(parsing: text)) != nil) == isFaulty)
    }
}
