import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

/// Replication with peers whose habits are not those of Settle's server (`Tests/Mobile/peer.py`).
@Suite(.timeLimit(.minutes(5))) struct PassivePeerTests {
    /// A peer in a process of its own.
    private final class Passive {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())
        let port: Int

        init(_ words: String...) throws {
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Mobile/peer.py")
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3", script.standardized.path] + words
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), "\(line)")
        }

        /// Ends the peer; returns its last words and its status.
        func end() throws -> (words: String, status: Int32) {
            try input.fileHandleForWriting.close()
            let words = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            return (words.trimmingCharacters(in: .whitespacesAndNewlines), process.waitForEnd())
        }
    }

    private let database: Database

    init() throws { database = try Database.inMemory() }

    private func pull(_ peer: MobilePeer) async throws -> ReplicationResult {
        try await OneWayReplicator(.pull(database, from: peer)).run()
    }

    @Test func `a peer that waits for what it wanted before it answers more gets a thousand documents and updates`()
        async throws
    {
        for number in 0..<1000 {
            let name = number % 10 == 0 ? "updated-\(number)" : "doc-\(number)"
            try database.save(Document(id: DocumentID(unchecked: name), body: try DocumentBody(["n": 1])))
        }
        let first = try #require(try database.document("updated-0")?.revision)
        for number in stride(from: 0, to: 1000, by: 10) {
            try database.update(DocumentID(unchecked: "updated-\(number)")) { $0["n"] = 2 }
        }
        let passive = try Passive("old", "\(first)")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        let result = try await OneWayReplicator(.push(database, to: peer)).run()
        #expect(result.counts.revisionsWritten == 1000 && result.ledger.entries.isEmpty)
        let end = try passive.end()
        #expect(end.words == "1000" && end.status == 0, "\(end.words)")
    }

    @Test func `removed, lost and refused documents, and reserved members, are listed, and the others replicate`()
        async throws
    {
        let passive = try Passive("gateway")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        let pulled = try await pull(peer)
        #expect(try database.document("kept")?["n"] == 1 && database.document("odd")?["n"] == 5)
        #expect(try database.document("described")?.body() == DocumentBody(["n": 7]))
        #expect(pulled.counts.revisionsWritten == 3)
        #expect(Set(pulled.ledger.entries.map(\.documentID.string)) == ["lost", "removed", "reserved"])
        // Without the member it would be another content under the same id.
        #expect(try database.document("reserved") == nil)
        let reserved = pulled.ledger.entries.first { $0.documentID == "reserved" }
        #expect(reserved?.kind == .refused && reserved?.reason.contains("\"_price\"") == true)
        // The position is returned as it came, and it has passed all of them.
        #expect(try await pull(peer).counts.revisionsRead == 0)
        for name in ["forbidden", "unnamed"] as [DocumentID] {
            try database.save(Document(id: name, body: try DocumentBody(["n": 1])))
        }
        let pushed = try await OneWayReplicator(.push(database, to: peer)).run()
        #expect(
            pushed.ledger.entries.map(\.documentID.string) == ["forbidden"]
                && pushed.ledger.entries.first?.status == 403)
        await peer.close()
        let end = try passive.end()
        #expect(end.words == "4" && end.status == 0, "\(end.words)")
    }

    @Test func `a peer with version vectors says so when it is pulled from, and gets no branch`() async throws {
        let passive = try Passive("vectors")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        let error = await #expect(throws: PeerError.self) { _ = try await pull(peer) }
        #expect(error?.code == .badRequest && error?.isTransient == false)
        #expect(error?.message.contains("has version vectors") == true, "\(String(describing: error))")
        for name in ["edited", "new"] as [DocumentID] {
            try database.save(Document(id: name, body: try DocumentBody(["n": 1])))
        }
        let pushed = try await OneWayReplicator(.push(database, to: peer)).run()
        #expect(pushed.counts.revisionsWritten == 1)
        #expect(pushed.ledger.entries.map(\.documentID) == ["edited"] && pushed.ledger.entries.first?.status == 409)
        await peer.close()
        let end = try passive.end()
        #expect(end.words == "1" && end.status == 0, "\(end.words)")
    }

    @Test func `a server is asked once a page about documents in conflict`() async throws {
        for name in ["2-bb", "2-cc"] {
            let history = try #require(RevisionID(name).flatMap { RevisionHistory([$0]) })
            let body = try DocumentBody(["n": .string(name)])
            for number in 0..<50 {
                let id = DocumentID(unchecked: "doc-\(number)")
                _ = try database.insertReplicated([ReplicatedRevision(id: id, history: history, body: body)])
            }
        }
        let passive = try Passive("asked")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        var configuration = ReplicationConfiguration.pull(database, from: peer)
        configuration.conflictPolicy = .remoteWins
        let pulled = try await OneWayReplicator(configuration).run()
        #expect(pulled.counts.conflictsSettled == 50 && pulled.ledger.entries.isEmpty)
        await peer.close()
        let end = try passive.end()
        #expect(end.words == "1" && end.status == 0, "\(end.words)")
    }

    @Test func `a pull whose connection is cut goes on, and asks for the rest by ids`() async throws {
        let passive = try Passive("cutting")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        let pulled = try await pull(peer)
        #expect(pulled.counts.revisionsWritten == 8 && pulled.ledger.entries.isEmpty)
        for number in 1...8 {
            #expect(try database.document(DocumentID(unchecked: "doc-\(number)"))?["n"]?.int == number)
        }
        let end = try passive.end()
        #expect(end.status == 0, "\(end.words)")
    }

    @Test func `only some attachments are under way at a time`() async throws {
        // Three of 18 KiB fit, and a fourth does not.
        for number in 0..<7 {
            var document = Document(id: DocumentID(unchecked: "doc-\(number)"), body: ["n": 1])
            let content = [UInt8](repeating: UInt8(number), count: 18 << 10)
            document.attachments = [try database.makeAttachment("photo", contentType: "image/png", content: content)]
            try database.save(document)
        }
        let passive = try Passive("slow")
        let address = try PeerAddress("ws://127.0.0.1:\(passive.port)/db")
        let peer = try MobilePeer(address, client: DefaultTransport(), maximumContentBytes: 64 << 10)
        #expect(try MobilePeer("ws://127.0.0.1/db").maximumContentBytes == 64 << 20)
        let result = try await OneWayReplicator(.push(database, to: peer)).run()
        #expect(result.counts.revisionsWritten == 7 && result.ledger.entries.isEmpty)
        await peer.close()
        let end = try passive.end()
        // A slow machine may not have read the third one in time.
        #expect(["7 2", "7 3"].contains(end.words) && end.status == 0, "\(end.words)")
    }

    @Test func `a server that says nothing for half a minute gets a ping`() async throws {
        let passive = try Passive("silent")
        let peer = try MobilePeer("ws://127.0.0.1:\(passive.port)/db")
        let request = ChangesRequest(since: .start, limit: 10, wait: .seconds(240))
        // The end of the connection comes with the ping, and else the wait would end without a change.
        let error = await #expect(throws: PeerError.self) { _ = try await peer.changes(request) }
        #expect(error?.code == .connectionLost)
        await peer.close()
        let end = try passive.end()
        #expect(end.words == "1" && end.status == 0, "\(end.words)")
    }
}
