import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleReplication

/// The documents of replications that a database keeps.
@Suite struct StoredReplicationsTests {
    @Test func `a database of an older version keeps its persistent replications`() async throws {
        let folder = try TemporaryFolder()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/persistent-replications.settle")
        try FileManager.default.copyItem(at: fixture, to: URL(filePath: folder("old.settle")))
        let database = try Database.open(folder("old.settle"))
        defer { database.close() }
        let all = try database.replications.persistent()
        #expect(all.map(\.name) == ["143bb52ad353033b417f2be868156dd6", "8aaf352054f44e2b2416b04a60e32d73"])
        #expect(all.map(\.direction) == [.push, .pull])
        #expect(all.map(\.state) == [.paused, .pending])
        #expect(all.map(\.isContinuous) == [true, false])
        #expect(all.map(\.url.description) == Array(repeating: "http://127.0.0.1:5984/hub", count: 2))
        #expect(all.map(\.url.user) == ["anna", nil])
        #expect(all.first?.filter == ["selector": ["a": 1]])
        // Each is found under its old name, and a change writes the present form.
        let again = try await database.replications.replicator(
            .pull(database, from: try CouchDBPeer(HTTPURL("http://127.0.0.1:5984/hub"))))
        #expect(try await database.replications.persist(again) == all.last?.name)
        try await database.replications.continuePersistent(all[0].name)
        #expect(try database.replications.persistent().map(\.state) == [.pending, .pending])
        #expect(
            try database.localDocument(StoredReplications.id)?.body.json["replications"]?[all[0].name]?["paused"] == nil
        )
    }

    @Test func `replications whose selectors look the same are two`() async throws {
        let database = try Database.inMemory()
        defer { database.close() }
        func replicator(_ owner: String) async throws -> OneWayReplicator {
            var configuration = ReplicationConfiguration.pull(
                database, from: try CouchDBPeer(HTTPURL("http://127.0.0.1:5984/hub")))
            configuration.filter = .selector(try MangoSelector(["owner": .string(owner)]))
            return try await database.replications.replicator(configuration)
        }
        // The same letter as one character, and as two.
        let (one, two) = (try await replicator("\u{E9}"), try await replicator("e\u{301}"))
        #expect(one !== two)
        #expect(try await replicator("\u{E9}") === one)
    }

    @Test func `states are those of replication documents, and older forms are read`() {
        var stored = StoredReplications(["replications": ["a": ["source": "x"], "b": ["source": "y", "paused": true]]])
        #expect(stored.documents.names == ["a", "b"])
        #expect(stored["b"] == ["source": "y", "_replication_state": "paused"])
        stored.set(.completed, of: "a")
        stored.set(.pending, of: "b")
        stored.set(.paused, of: "none")
        #expect(
            stored.body == [
                "replications": ["a": ["source": "x", "_replication_state": "completed"], "b": ["source": "y"]]
            ])
        #expect(StoredReplications(stored.body) == stored)
        stored["a"] = nil
        stored["b"] = nil
        #expect(stored.body == nil && StoredReplications(nil) == stored)
        let paused = StoredReplications(["paused": ["c": ["source": "z"]]])
        #expect(paused["c"] == ["source": "z", "_replication_state": "paused"])
    }
}
