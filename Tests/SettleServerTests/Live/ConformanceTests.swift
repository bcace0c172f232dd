import Foundation
import Settle
import SettleScripting
import SettleTesting
import Testing

@testable import SettleServer

/// The server answers like the recorded CouchDB: the exchanges are replayed over a socket.
///
/// Files with a step that expects something within a time, such as heartbeats and replications, are left out, because other tests may keep
/// the machine busy. `Scripts/conformance.sh` replays these, too.
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
        #expect(try Set(Corpus.cases().map(\.topic)) == Set(try Self.served().map(\.topic)))
    }

    @Test func `recorded answers equal the server's`() async throws {
        let cases = try Corpus.cases()
        let folder = try TemporaryFolder()
        let server = try ServedFolder(folder)
        let reports = try TemporaryFolder()
        let report = reports("report.json")
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments =
            ["python3", try #require(Corpus.replay), "--base", "http://127.0.0.1:\(server.port)", "--json", report]
            + ["--timeout", "300"] + cases.filter { !$0.isTimed }.flatMap { ["--only", $0.name] }
        python.standardOutput = FileHandle.nullDevice
        try await python.runToEnd()
        let result = try JSONValue(utf8: Array(try Data(contentsOf: URL(filePath: report))))
        let failed = (result["files"]?.array ?? []).flatMap { file in
            (file["steps"]?.array ?? []).filter { $0["passed"] == false }.map { "\(file["file"] ?? "") \($0)" }
        }
        for (topic, passing) in try Self.served() {
            let passed = result["topics"]?[topic]?["passed"]?.int ?? 0
            let leftOut = cases.filter { $0.topic == topic && $0.isTimed }.reduce(0) { $0 + $1.count }
            let complaint = failed.filter { $0.hasPrefix("\"\(topic)--") }.joined(separator: "\n")
            #expect(passed + leftOut >= passing, "\(topic): \(complaint)")
        }
        #expect(cases.count(where: \.isTimed) < cases.count / 4)
    }
}
