import Foundation
import Testing

@testable import RevisionTree

/// Replays the recorded writes on a model of one document store that knows nothing but the hash.
@Suite struct RevisionHashConformanceTests {
    // SEMANTICS 198
    @Test(arguments: ConformanceCases.files(of: "revision-ids"))
    func `every recorded revision id is reproduced`(file: String) throws {
        let steps = try #require(ConformanceCases.load(file)["steps"]?.array)
        var replay = RevisionReplay()
        for step in steps {
            let name = step["name"]?.string ?? "?"
            try #expect(replay.run(step) == replay.expected(step), "\(file): \(name)")
        }
        #expect(replay.compared > 0)
    }
}
