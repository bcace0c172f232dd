import Dispatch
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Feeds that wait while their database can't be read.
@Suite(.timeLimit(.minutes(5))) struct FeedOutageTests {
    private enum End { case waits, ended, spins }

    private let server: ServerState

    init() throws { server = try RouterClient().server.state }

    /// A continuous feed.
    private func stream(of database: Database) throws -> ChangesStream {
        let request = ServerRequest(
            method: "GET", target: RequestTarget("/db/_changes"), headers: HTTPHeaders(), body: BufferedBody([]))
        let context = RequestContext(
            server: server, request: request, parameters: ["db": "db"], user: User(name: nil, roles: []),
            query: ["feed": "continuous"])
        return try ChangesStream(
            database: database, query: ChangesQuery(context), filter: .all, metrics: Metrics())
    }

    /// What a feed sends until it waits or ends.
    private func read(_ stream: ChangesStream) throws -> (text: String, end: End) {
        var bytes: [UInt8] = []
        for _ in 0..<100 {
            switch try stream.next() {
            case .piece(let piece): bytes += piece
            case .wait: return (String(decoding: bytes, as: UTF8.self), .waits)
            case .end: return (String(decoding: bytes, as: UTF8.self), .ended)
            }
        }
        return (String(decoding: bytes, as: UTF8.self), .spins)
    }

    /// Another node writes while the database of a waiting feed can't be read: neither its changes nor its newest
    /// position.
    private func failRound(_ stream: ChangesStream, of node: SharedNode, _ other: SharedNode) throws {
        #expect(try read(stream).end == .waits)
        node.isCut = true
        try other.database.save(Document(id: "a", body: [:]), onConflict: .fail)
        waitUntil("a round has failed") { node.failures >= 2 }
    }

    @Test func `a feed that waits while the database can't be read gets the next change`() throws {
        let store = try SharedStore()
        let (node, other) = (try store.node(), try store.node())
        let stream = try stream(of: node.database)
        let wakes = Guarded(0)
        stream.begin { wakes.withLock { $0 += 1 } }
        defer { stream.end() }
        try failRound(stream, of: node, other)
        stream.hub.queue.sync {}
        #expect(!stream.hub.isClosed)
        #expect(wakes.withLock(\.self) == 0)
        #expect(try read(stream).end == .waits)
        node.isCut = false
        waitUntil("the feed is woken") { wakes.withLock(\.self) > 0 }
        let (text, end) = try read(stream)
        #expect(text.contains(#""id":"a""#) && end == .waits)
        // And the next one, as if nothing had happened.
        let before = wakes.withLock(\.self)
        try other.database.save(Document(id: "b", body: [:]), onConflict: .fail)
        waitUntil("the feed is woken again") { wakes.withLock(\.self) > before }
        #expect(try read(stream).text.contains(#""id":"b""#))
    }

    @Test func `a hub whose database is closed during an outage is closed`() throws {
        let store = try SharedStore()
        let (node, other) = (try store.node(), try store.node())
        let stream = try stream(of: node.database)
        let wakes = Guarded(0)
        stream.begin { wakes.withLock { $0 += 1 } }
        defer { stream.end() }
        try failRound(stream, of: node, other)
        store.delete()
        waitUntil("the feed is woken") { wakes.withLock(\.self) > 0 }
        #expect(stream.hub.isClosed)
        let (text, end) = try read(stream)
        #expect(text.contains(#"{"last_seq":"#) && end == .ended)
    }

    @Test func `a feed whose hub is closed while it waits ends with its position`() throws {
        let database = try Database.inMemory()
        let stream = try stream(of: database)
        stream.begin {}
        defer { stream.end() }
        #expect(try read(stream).end == .waits)
        stream.hub.close()
        let (text, end) = try read(stream)
        #expect(text.contains(#"{"last_seq":"#) && end == .ended)
    }
}
