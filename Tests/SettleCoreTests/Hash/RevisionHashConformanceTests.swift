import Foundation
import Testing

@testable import SettleCore

/// Replays the recorded writes on a model of a document store that implements only the hash.
@Suite struct RevisionHashConformanceTests {
    // SEMANTICS 198
    @Test(arguments: [("revision-ids.json", 700), ("compressed-attachments.json", 80)])
    func `every revision id that a CouchDB gave is reproduced`(file: String, count: Int) throws {
        #expect(try replay(ConformanceCases.fixture(file), file) >= count)
    }

    @Test func `text that a CouchDB refuses as JSONValue is refused`() throws {
        let steps = try #require(ConformanceCases.fixture("revision-ids.json")["steps"]?.array)
        let refused = steps.filter { $0["expect"]?["status"] == 400 }.compactMap { $0["text"]?.string }
        #expect(refused.count == 8)
        for text in refused { #expect(throws: JSONError.self, "\(text)") { try DocumentBody(parsing: text) } }
    }

    // SEMANTICS 198
    @Test(.enabled(if: ConformanceCases.isAtHand, ConformanceCases.absence))
    func `every revision id of the corpus is reproduced`() throws {
        let files = ConformanceCases.files(of: "revision-ids")
        #expect(files.count >= 9)
        for file in files { #expect(try replay(ConformanceCases.load(file), file) > 0, "\(file)") }
    }

    /// Replays the steps of a file; returns how many revision ids were compared.
    private func replay(_ file: JSONValue, _ name: String) throws -> Int {
        let steps = try #require(file["steps"]?.array)
        var replay = RevisionReplay()
        for step in steps {
            try #expect(replay.run(step) == replay.expected(step), "\(name): \(step["name"]?.string ?? "?")")
        }
        return replay.compared
    }
}
