import Settle
import SettleTesting
import Testing

/// Replications of some documents.
@Suite(.timeLimit(.minutes(5)))
struct FilterBehaviourTests {
    private func fill(_ database: Database) throws {
        for number in 0..<40 {
            try database.put(
                DocumentID(validating: "d\(number)"),
                ["owner": number.isMultiple(of: 2) ? "ada" : "bob", "n": .number(JSONNumber(number))])
        }
    }

    @Test(arguments: PeerPair.all)
    func `documents are chosen by id`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        try fill(source.database)
        let result = try await replicate(source, to: target) { $0.filter = .documents(["d3", "d5", "none"]) }
        #expect(try target.database.documents().map(\.id) == ["d3", "d5"])
        #expect(result.counts.revisionsWritten == 2)
    }

    // SEMANTICS 128, 129
    @Test(arguments: PeerPair.all)
    func `documents are chosen by a selector, and a deletion only if it keeps what is asked for`(
        pair: PeerPair
    ) async throws {
        let (source, target) = try await pair.make()
        try fill(source.database)
        let selector = try Selector(["owner": "ada"])
        let result = try await replicate(source, to: target) { $0.filter = .selector(selector) }
        #expect(try target.database.documents().count == 20)
        #expect(result.counts.revisionsChecked == 20)
        // SEMANTICS 131: a plain deletion has lost its members and does not pass; one that keeps them does.
        try source.database.delete("d0")
        try source.database.delete("d2", keeping: ["owner"])
        // SEMANTICS 132: one that stops matching stays at the target as it was.
        try source.database.put("d4", ["owner": "bob"])
        try await replicate(source, to: target) { $0.filter = .selector(selector) }
        #expect(try target.database.document("d0") != nil)
        #expect(try target.database.document("d2") == nil)
        #expect(try target.database.document("d4")?["owner"] == "ada")
    }

    @Test func `a registered function is a filter, with parameters`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try fill(source.database)
        source.database.addReplicationFilter("owned") { document, parameters in
            document["owner"]?.string == parameters["by"]
        }
        let result = try await replicate(source, to: target) { $0.filter = .named("owned", parameters: ["by": "bob"]) }
        #expect(result.counts.revisionsWritten == 20)
        #expect(result.counts.documentsFiltered == 20)
    }

    // SEMANTICS 130
    @Test func `a filter that was not registered is an error at the start, and nothing is pushed`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        try fill(source.database)
        for filter in [ReplicationFilter.named("none"), .channels(["c"])] {
            var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
            configuration.direction = .push
            configuration.filter = filter
            let replicator = Replicator(configuration)
            await #expect(throws: PeerError.self) { try await replicator.run() }
            #expect(replicator.status.mode == .stopped)
            #expect(replicator.status.error != nil)  // SEMANTICS 110
        }
        #expect(try target.database.documents().isEmpty)
    }
}
