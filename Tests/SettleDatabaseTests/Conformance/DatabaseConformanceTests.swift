import Settle
import SettleTesting
import Testing

/// What a CouchDB answered, the database answers.
@Suite(.enabled(if: !RecordedExchange.files("conflicts--").isEmpty, "the corpus is not at hand"))
struct DatabaseConformanceTests {
    // SEMANTICS 198, 199, 200, 202
    @Test(
        arguments: [
            ("conflicts--", 80), ("revs-limit--", 15), ("revs-diff--", 15), ("bulk-docs--new-edits-false", 10),
            ("open-revs--", 5), ("revision-ids--compressed-attachments", 5),
            ("revision-ids--attachments", 5),
        ], DatabaseKind.allCases)
    func `recorded answers are ours`(expected: (topic: String, count: Int), kind: DatabaseKind) throws {
        var compared = 0
        for file in RecordedExchange.files(expected.topic) {
            let replay = DatabaseReplay(kind)
            for step in try RecordedExchange.steps(file) {
                do { try replay.run(step) } catch {
                    Issue.record("\(file): \(step["name"] ?? ""): \(error)")
                }
            }
            try replay.finish()
            compared += replay.compared
        }
        #expect(compared >= expected.count)
    }
}
