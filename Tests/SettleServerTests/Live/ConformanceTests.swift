import Foundation
import Settle
import SettleScripting
import SettleTesting
import Testing

@testable import SettleServer

/// The server answers like the recorded CouchDB: the exchanges are replayed over a socket.
///
/// The server is a process of its own. Replays wait a few seconds for replications, and tasks of a server in this process would
/// wait for the threads of other tests.
@Suite(.enabled(if: Corpus.replay != nil, "SETTLE_CONFORMANCE names no folder with replay.py"), .serialized)
struct ConformanceTests {
    /// The minimum number of passing steps for each topic, from `Scripts/conformance-floors.txt`.
    private static func served() throws -> [(topic: String, passing: Int)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Scripts/conformance-floors.txt"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(try #require(words.first)), try #require(words.last.flatMap { Int($0) }))
        }
    }

    @Test func `every topic of the corpus is served`() throws {
        #expect(try Corpus.topics() == Set(try Self.served().map(\.topic)))
    }

    @Test func `recorded answers equal the server's`() async throws {
        let served = try Self.served()
        let folder = try TemporaryFolder()
        let server = try ServedFolder(folder)
        let reports = try TemporaryFolder()
        let report = reports("report.json")
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments =
            ["python3", try #require(Corpus.replay), "--base", "http://127.0.0.1:\(server.port)", "--json", report]
            + served.flatMap { ["--only", $0.topic] }
        python.standardOutput = FileHandle.nullDevice
        try await python.runToEnd()
        let topics = try JSONValue(utf8: Array(try Data(contentsOf: URL(filePath: report))))["topics"]
        for (topic, passing) in served {
            let passed = topics?[topic]?["passed"]?.int ?? 0
            #expect(passed >= passing, "\(topic)")
        }
    }
}
