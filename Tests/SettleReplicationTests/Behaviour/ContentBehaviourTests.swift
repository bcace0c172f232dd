import Settle
import SettleTesting
import Testing

/// Replication of all kinds of content.
@Suite(.timeLimit(.minutes(5)))
struct ContentBehaviourTests {
    @Test(arguments: PeerPair.everywhere)
    func `an empty database replicates`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let result = try await replicate(source, to: target)
        #expect(result.counts == ReplicationCounts())
        try expectSame(source.database, target.database)
    }

    @Test(arguments: PeerPair.everywhere)
    func `documents of every kind are replicated, and local ones are not`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let database = source.database
        try database.put("plain", ["text": "Hello"])
        try database.put("_design/view", ["language": "javascript"])
        for id in ["ü/ö ?&#+%", "e\u{301}", "\u{E9}", "日本", "🧀", "a b", "%2F"] {
            try database.put(DocumentID(validating: id), ["id": .string(id)])
        }
        try database.put("edited", ["n": 1])
        try database.put("edited", ["n": 2])
        try database.put("deleted", ["n": 1])
        try database.delete("deleted")
        try database.put("kept", ["owner": "ada", "n": 1])
        try database.delete("kept", keeping: ["owner"])
        try database.saveLocalDocument("_local/mine", body: ["n": 1])  // SEMANTICS 203
        let result = try await replicate(source, to: target)
        try expectSame(source.database, target.database)
        expectSums(result.counts)
        #expect(result.counts.revisionsWritten == 12)
        let local = try target.database.localDocument("_local/mine")
        #expect(local == nil)
        let again = try await replicate(source, to: target) { $0.usesCheckpoints = false }
        #expect(again.counts.revisionsPresent == 12)
        #expect(again.counts.revisionsMissing == 0)
    }

    @Test(arguments: PeerPair.everywhere)
    func `trees with branches, tombstones and detached roots are replicated whole`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let database = source.database
        var random = SeededRandom(seed: 7)
        for number in 0..<60 {
            let id = try DocumentID(validating: "t\(number)")
            for generation in 0..<(1 + random.below(5)) {
                if random.oneIn(3), generation > 0 {
                    try database.branch(
                        id, ["here": .number(JSONNumber(generation))], ["there": .number(JSONNumber(generation))])
                } else {
                    try database.put(id, ["n": .number(JSONNumber(generation))])
                }
            }
            if random.oneIn(4) { try database.delete(id) }
        }
        // SEMANTICS 140: concurrent edits are no error, and become branches.
        let result = try await replicate(source, to: target)
        try expectSame(source.database, target.database)
        expectSums(result.counts)
    }

    @Test(arguments: PeerPair.everywhere)
    func `a stemmed history is replicated`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        try source.database.setRevisionLimit(3)
        for number in 0..<10 { try source.database.put("long", ["n": .number(JSONNumber(number))]) }
        try await replicate(source, to: target)
        let tree = try #require(try target.database.tree(of: "long"))
        #expect(tree.count == 3)
        #expect(tree.winner?.revision.generation == 10)
        try source.database.put("long", ["n": 10])
        try await replicate(source, to: target)
        #expect(try target.database.document("long")?.revision?.generation == 11)
        #expect(try target.database.leaves(of: "long").count == 1)
    }

    @Test(arguments: PeerPair.everywhere)
    func `many documents are replicated in bounded batches`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        try source.database.transaction {
            for number in 0..<5000 {
                try source.database.put(DocumentID(validating: "d\(number)"), ["n": .number(JSONNumber(number))])
            }
        }
        let result = try await replicate(source, to: target) { configuration in
            configuration.limits.changes = 300
            configuration.limits.revisions = 170
            configuration.limits.bytes = 40_000
        }
        #expect(result.counts.revisionsWritten == 5000)
        expectSums(result.counts)
        try expectSame(source.database, target.database)
    }
}
