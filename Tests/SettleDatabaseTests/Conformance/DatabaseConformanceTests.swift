import PostgresTesting
import Settle
import SettleTesting
import Testing

/// The database gives the same answers as the recorded CouchDB.
struct DatabaseConformanceTests {
    // SEMANTICS 198, 199
    @Test(arguments: Kinds.all)
    func `every recorded write gets the revision id that a CouchDB gave it`(kind: DatabaseKind) throws {
        let replay = DatabaseReplay(kind)
        for step in try RecordedExchange.revisionIDs() {
            do { try replay.run(step) } catch { Issue.record("\(step["name"] ?? ""): \(error)") }
        }
        try replay.finish()
        // Tombstones with members are stored as a peer would send them, and not compared.
        #expect(replay.compared >= 690)
    }

    // SEMANTICS 198, 199, 200, 202
    @Test(
        .enabled(if: RecordedExchange.isAtHand, RecordedExchange.absence),
        arguments: [
            ("conflicts--", 80), ("revs-limit--", 15), ("revs-diff--", 15), ("bulk-docs--new-edits-false", 10),
            ("open-revs--", 5), ("revision-ids--compressed-attachments", 5),
            ("revision-ids--attachments", 5),
        ], Kinds.all)
    func `recorded answers equal the database's`(expected: (topic: String, count: Int), kind: DatabaseKind) throws {
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
