import Settle
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

/// Whole replications between a database here and one behind CouchDB's API.
@Suite(.timeLimit(.minutes(5))) struct CouchDBReplicationTests {
    private let home = PeerHome()

    /// Documents with branches, tombstones and attachments of all kinds.
    private func fill(_ database: Database) throws {
        for number in 0..<700 {
            let id = try DocumentID(validating: "doc/\(number) ü")
            try database.save(Document(id: id, body: ["n": .number(JSONNumber(number)), "f": 1.0]), onConflict: .fail)
        }
        let history = try ["3-c 2-b 1-a", "3-d 2-b 1-a", "2-x 1-a"].map { path in
            try revision("branches", path, ["path": .string(path)], isDeleted: path.hasPrefix("2")).history
        }
        for (index, history) in history.enumerated() {
            try database.insertReplicated([
                ReplicatedRevision(
                    id: "branches", history: history, isDeleted: index == 2, body: ["i": .number(JSONNumber(index))])
            ])
        }
        var generator = SeededRandom(seed: 3)
        let large = generator.bytes(300_000)
        let text = Array(String(repeating: "to be or not to be, ", count: 3000).utf8)
        for (name, attachments) in [
            ("small", [("s", "image/png", [1, 2, 3])]), ("text", [("t", "text/plain", text)]),
            ("all", [("l", "image/png", large), ("s", "image/png", [4]), ("t", "text/plain", text)]),
        ] as [(String, [(String, String, [UInt8])])] {
            let made = try attachments.map { try database.makeAttachment($0.0, contentType: $0.1, content: $0.2) }
            try database.save(
                Document(id: DocumentID(validating: name), body: [:], attachments: made), onConflict: .fail)
        }
    }

    /// All documents of a database, with trees and digests.
    private func contents(_ database: Database) throws -> [DocumentID: [String]] {
        var all: [DocumentID: [String]] = [:]
        for change in try database.changes() {
            let tree = try #require(try database.tree(of: change.id))
            all[change.id] = try tree.leaves.map { leaf in
                let document = try #require(try database.document(change.id, revision: leaf.revision))
                let path = tree.history(of: leaf.revision)?.revisions.map(\.description) ?? []
                let attachments = document.attachments.map {
                    "\($0.name) \($0.contentType) \($0.digest) \($0.length) \($0.revpos)"
                }
                return "\(path) \(leaf.isDeleted) \(document.json) \(attachments)"
            }
        }
        return all
    }

    // SEMANTICS 91
    @Test(arguments: ServerKind.all)
    func `documents pushed and pulled back are equal, byte for byte`(_ kind: ServerKind) async throws {
        let (here, there) = (try TemporaryDatabase(.file), try TemporaryDatabase(.file))
        try fill(here.database)
        let peer = try home.peer(kind)
        try await peer.create()
        let pushed = try await OneWayReplicator(.push(here.database, to: peer)).run()
        #expect(pushed.counts.revisionsRefused == 0 && pushed.counts.revisionsFailed == 0)
        #expect(pushed.counts.revisionsWritten == 706)
        let pulled = try await OneWayReplicator(.pull(there.database, from: peer)).run()
        #expect(pulled.counts.revisionsWritten == 706 && pulled.counts.revisionsFailed == 0)
        #expect(try contents(there.database) == contents(here.database))
        // Both sides have a checkpoint, so nothing is compared again.
        let again = try await OneWayReplicator(.push(here.database, to: peer)).run()
        #expect(again.counts.changesRead == 0 && again.counts.resyncs == 0)
        // An edit of a document with attachments sends none of them again.
        var all = try #require(try there.database.document("all"))
        all.json = ["edited": true]
        try there.database.save(all, onConflict: .fail)
        let edited = try await OneWayReplicator(.push(there.database, to: peer)).run()
        #expect(edited.counts.revisionsWritten == 1)
        _ = try await OneWayReplicator(.pull(here.database, from: peer)).run()
        #expect(try contents(there.database) == contents(here.database))
    }

    @Test(arguments: ServerKind.all)
    func `a continuous replication replicates concurrent writes, both ways`(_ kind: ServerKind) async throws {
        let (here, there) = (try TemporaryDatabase(.memory), try TemporaryDatabase(.memory))
        let url = try home.url(kind)
        let (first, second) = (try CouchDBPeer(url), try CouchDBPeer(url))
        try await first.create()
        var push = ReplicationConfiguration.push(here.database, to: first)
        var pull = ReplicationConfiguration.pull(there.database, from: second)
        (push.isContinuous, pull.isContinuous) = (true, true)
        let replicators = [OneWayReplicator(push), OneWayReplicator(pull)]
        for replicator in replicators { replicator.start() }
        let observation = try there.database.observe()
        let arrived = Task {
            for try await change in observation where change.id == "last" { return }
        }
        for number in 0..<20 {
            try here.database.save(Document(id: DocumentID(validating: "d\(number)"), body: [:]), onConflict: .fail)
        }
        try here.database.save(Document(id: "last", body: [:]), onConflict: .fail)
        _ = try await arrived.value
        for replicator in replicators { await replicator.stop() }
        #expect(try there.database.info().documents.live == 21)
    }
}
