internal import Dispatch
internal import Settle
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform
internal import SettleReplication
internal import SettleServer

/// A device with Settle's own database and replicator, over HTTP or over Couchbase Mobile's protocol.
final class SettleDevice {
    /// The way in which it reaches the server.
    enum Kind: String, CaseIterable {
        case http
        case webSocket
    }

    let name: String
    let kind: Kind
    let database: Database
    private let policy: ConflictPolicy
    /// The documents that the last replication could not transfer, with reasons.
    private(set) var errors: [String] = []

    /// Creates a device. It merges by the common ancestor if `merges` is true, and otherwise unites the members.
    ///
    /// - Throws: ``DatabaseError``.
    init(_ name: String, _ kind: Kind, merges: Bool) throws {
        (self.name, self.kind) = (name, kind)
        var options = DatabaseOptions()
        options.warn = { _ in }
        database = try Database.inMemory(options: options)
        policy =
            merges
            ? .threeWayMerge()
            : .custom("unite", version: "1") { conflict in
                var united = conflict.winner
                for leaf in conflict.liveLeaves.dropFirst() {
                    united.json = .object(LiteResolver.unite(united.json.object ?? [:], leaf.json.object ?? [:]))
                    united.attachments += leaf.attachments.filter { united.attachment($0.name) == nil }
                }
                return .document(united)
            }
    }

    deinit { database.close() }

    /// The document as the app sees it; `nil` for a deleted one.
    func body(_ id: String) throws -> JSONObject? {
        guard let document = try database.document(DocumentID(unchecked: id)), !document.isDeleted else { return nil }
        return document.json.object
    }

    /// Saves a document; `nil` deletes it.
    func save(_ id: String, _ body: JSONObject?) throws {
        let known = try database.document(DocumentID(unchecked: id))
        guard let body else {
            if known?.isDeleted == false { try database.delete(DocumentID(unchecked: id)) }
            return
        }
        var document = known ?? Document(id: DocumentID(unchecked: id))
        document.json = .object(body)
        try database.save(document)
    }

    /// Replicates once in both directions, and settles all conflicts.
    ///
    /// - Returns: The number of revisions that were transferred or written.
    func sync(_ server: FleetServer) async throws -> Int {
        let server = server.server
        let peer: any Peer =
            switch kind {
            case .http: try CouchDBPeer(server.url, client: server)
            case .webSocket:
                try MobilePeer(
                    PeerAddress("ws://localhost\(server.url.path)"), client: server,
                    opener: MobileOpener { _, options, make in Wire.open(server, options.userAgent, make) })
            }
        let results = try await Replicator(database, with: peer) { configuration in
            configuration.conflictPolicy = policy
            (configuration.retry.attempts, configuration.retry.documentRetries) = (0, 0)
        }.run()
        await peer.close()
        errors = results.flatMap { $0.ledger.entries.map { "\($0)" } }
        return results.reduce(0) { $0 + Int($1.counts.revisionsWritten) + Int($1.counts.conflictsSettled) }
    }

    /// Both ends of a connection in this process, with a queue that moves the bytes.
    private final class Wire: Sendable {
        private let queue = DispatchQueue(label: "fleet.wire")
        private let ends = Guarded<(client: BLIPConnection, server: BLIPConnection)?>(nil)

        static func open(_ server: InProcessServer, _ userAgent: String, _ make: MobileOpener.Maker) -> BLIPConnection {
            let wire = Wire()
            let ring = { @Sendable in wire.queue.async { wire.move() } }
            let client = make(ring)
            let other = server.connect(userAgent: userAgent, wake: ring)
            wire.ends.withLock { $0 = (client, other) }
            ring()
            return client
        }

        private func move() {
            guard let (client, server) = ends.withLock(\.self) else { return }
            do {
                var moves = true
                while moves {
                    moves = false
                    while let bytes = try client.nextOutput() {
                        moves = true
                        try bytes.withUnsafeBytes(server.receive)
                    }
                    while let bytes = try server.nextOutput() {
                        moves = true
                        try bytes.withUnsafeBytes(client.receive)
                    }
                }
            } catch { server.close(1002) }
            guard client.isClosing || server.isClosing else { return }
            ends.withLock { $0 = nil }
            client.end()
            server.end()
        }
    }
}
