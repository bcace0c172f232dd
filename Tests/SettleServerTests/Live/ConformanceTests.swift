import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// What a CouchDB answered, the server answers: the recorded exchanges, replayed over a socket.
@Suite(.enabled(if: Corpus.replay != nil, "the corpus is not at hand"), .serialized)
struct ConformanceTests {
    /// For each topic how many steps pass at least. What is missing to all of them needs design functions or
    /// queries, but for the few that docs/COMPATIBILITY.md names.
    private static let served: [(topic: String, passing: Int)] = [
        ("all-docs", 100), ("attachments", 156), ("bulk-docs", 61), ("bulk-get", 35), ("changes", 139),
        ("conflicts", 166), ("database", 68), ("design-docs", 30), ("documents", 177), ("http", 110),
        ("local-docs", 35), ("maintenance", 36), ("open-revs", 22), ("purge", 29), ("revision-ids", 381),
        ("revs-diff", 32), ("revs-limit", 27), ("security", 50), ("server", 51), ("session", 35), ("users", 53),
    ]

    /// The topics of the corpus that are not served yet.
    private static let notServed: Set = [
        "views", "collation", "mango-operators", "mango-find", "mango-index", "mango-explain", "validation",
        "update-functions", "replication", "replicator",
    ]

    @Test func `every topic of the corpus is served or listed as not served`() throws {
        let topics = try Corpus.topics()
        #expect(topics == Self.notServed.union(Self.served.map(\.topic)))
    }

    @Test func `recorded answers are ours`() throws {
        let live = try LiveServer()
        let report = live.folder("report.json")
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments =
            ["python3", try #require(Corpus.replay), "--base", "http://127.0.0.1:\(live.port)", "--json", report]
            + Self.served.flatMap { ["--only", $0.topic] }
        python.standardOutput = FileHandle.nullDevice
        try python.run()
        python.waitUntilExit()
        let topics = try JSON(utf8: Array(try Data(contentsOf: URL(filePath: report))))["topics"]
        for (topic, passing) in Self.served {
            let passed = topics?[topic]?["passed"]?.int ?? 0
            #expect(passed >= passing, "\(topic)")
        }
    }
}
