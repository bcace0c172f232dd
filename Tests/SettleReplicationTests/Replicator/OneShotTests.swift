import Settle
import SettleTesting
import Testing

/// One-shot replications.
@Suite(.timeLimit(.minutes(5)))
struct OneShotTests {
    @Test(arguments: DatabaseKind.allCases)
    func `a push replicates all documents and the sums agree`(kind: DatabaseKind) async throws {
        let (here, there) = (try TemporaryDatabase(kind), try TemporaryDatabase(kind))
        for number in 0..<2500 {
            try here.database.save(
                Document(id: DocumentID(validating: "d\(number)"), body: ["n": .number(JSONNumber(number))]),
                onConflict: .fail)
        }
        let push = OneWayReplicator(.push(here.database, to: LocalPeer(there.database)))
        let result = try await push.run()
        #expect(result.counts.revisionsWritten == 2500)
        #expect(result.counts.revisionsChecked == result.counts.revisionsPresent + result.counts.revisionsMissing)
        #expect(try there.database.info().documents.live == 2500)
        #expect(push.status.mode == .stopped)
        let again = try await push.run()
        #expect(again.counts.changesRead == 0)
        #expect(again.replicationID == result.replicationID)
        let trees = (try here.database.tree(of: "d7"), try there.database.tree(of: "d7"))
        #expect(trees.0?.revisions == trees.1?.revisions)
    }
}
