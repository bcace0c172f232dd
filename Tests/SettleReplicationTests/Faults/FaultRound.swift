import Foundation
import Settle
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

/// One replication through a proxy that lets requests fail at random, from a seed: repeated until everything is
/// replicated.
struct FaultRound {
    let seed: UInt64
    let server: LiveServer
    let proxy: FaultProxy
    private var random: SeededRandom

    init(seed: UInt64, server: LiveServer, proxy: FaultProxy) {
        self.seed = seed
        self.server = server
        self.proxy = proxy
        random = SeededRandom(seed: seed)
    }

    /// Replicates under faults, and then without: both must hold the same in the end, and no checkpoint may run ahead.
    mutating func run() async throws {
        proxy.follow(.none)
        let name = "round-\(seed)"
        let direct = try CouchDBPeer(server.url(name))
        try await direct.create()
        let served = try DocumentStore(path: server.folder.path).open(name)
        let local = try Database.inMemory()
        defer { local.close() }
        let isPush = Bool.random(using: &random)
        let source = isPush ? local : served
        try fill(source)
        let url = try HTTPURL("\(proxy.address)/\(name)")
        let peer = try CouchDBPeer(url, credentials: .basic(user: "admin", password: "secret-word"))
        var configuration: ReplicationConfiguration = isPush ? .push(local, to: peer) : .pull(local, from: peer)
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(5)
        configuration.limits.changes = 7
        configuration.limits.revisions = 11
        configuration.checkpointInterval = .milliseconds(1)
        let log = DocumentID(unchecked: "_local/\(try await configuration.replicationID())")
        proxy.follow(.random(seed: seed, rate: 0.25, longestPause: .milliseconds(5)))
        for attempt in 0..<3 {
            if let result = try? await OneWayReplicator(configuration).run() {
                expectSums(result.counts, of: "seed \(seed), attempt \(attempt): \(result.ledger.entries)")
            }
            try expectCheckpointHolds(log, source: source, target: isPush ? served : local, attempt)
            if attempt == 1 { try fill(source) }
        }
        proxy.follow(.none)
        let last = try await OneWayReplicator(configuration).run()
        expectSums(last.counts, of: "seed \(seed)")
        #expect(last.ledger.entries == [], "seed \(seed)")
        try expectSame(source, isPush ? served : local)
        await peer.close()
        await direct.close()
    }

    /// Everything that the target's log claims as read is at the target.
    private func expectCheckpointHolds(
        _ log: DocumentID, source: Database, target: Database, _ attempt: Int
    ) throws {
        guard let document = try target.localDocument(log),
            let recorded = document.body.json["source_last_seq"].map(PeerSequence.init)?.number
        else { return }
        for change in try source.changes(style: .allLeaves) where change.sequence.number <= recorded {
            let tree = try target.tree(of: change.id)
            for leaf in change.leaves {
                #expect(
                    tree?[leaf] != nil,
                    "seed \(seed), attempt \(attempt): the checkpoint \(recorded) is ahead of \(change.id) \(leaf)")
            }
        }
    }

    private mutating func fill(_ database: Database) throws {
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            let id = try DocumentID(validating: "d\(Int.random(in: 0..<60, using: &random))")
            let number: JSONValue = .number(JSONNumber(Int.random(in: 0..<1000, using: &random)))
            switch Int.random(in: 0..<12, using: &random) {
            case 0: if try database.document(id) != nil { try database.delete(id) }
            case 1: try database.branch(id, ["here": number], ["there": number])
            case 2:
                var document = try database.document(id) ?? Document(id: id)
                let length = Int.random(in: 1...60_000, using: &random)
                let content = random.bytes(length)
                document.attach(try database.makeAttachment("a", contentType: "image/png", content: content))
                try database.save(document, onConflict: .lastWriteWins)
            default: try database.put(id, ["n": number])
            }
        }
    }
}
