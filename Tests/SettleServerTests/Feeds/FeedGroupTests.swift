import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleQuery
import Testing

@testable import SettleServer

/// The rows kept for feeds of one kind, and the order in which these are woken.
@Suite struct FeedGroupTests {
    private let database: Database
    private let server: ServerState
    private let sequences: WireSequence

    init() throws {
        database = try Database.inMemory()
        sequences = try WireSequence(database)
        server = try RouterClient().server.state
    }

    /// Renders the rows of a kind of feed.
    private func row(_ feed: String = "continuous") throws -> ChangeRow {
        let request = ServerRequest(
            method: "GET", target: RequestTarget("/db/_changes"), headers: HTTPHeaders(), body: BufferedBody([]))
        let context = RequestContext(
            server: server, request: request, parameters: ["db": "db"], user: User(name: nil, roles: []),
            query: ["feed": feed])
        return ChangeRow(query: try ChangesQuery(context), filter: .all, sequences: sequences, metrics: Metrics())
    }

    /// Writes documents, one change each, and renders them as a batch.
    private func batch(_ names: [String], after: UpdateSequence) throws -> FeedBatch {
        for name in names { _ = try database.save(Document(id: DocumentID(validating: name)), onConflict: .fail) }
        let page = try database.records(changedIn: SequenceRange(after: after), limit: 100, withContent: false)
        return try FeedBatch(page, after: after, through: try database.lastSequence(), by: row(), of: database)
    }

    private func ids(_ found: FeedGroup.Found) -> [String]? {
        guard case .rows(let bytes, _, _) = found else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            (try? JSONValue(parsing: String($0)))?["id"]?.string
        }
    }

    @Test func `a feed within the kept changes gets those after its position`() throws {
        var group = FeedGroup(nil, try row(), at: 0)
        group.add(try batch(["a", "b"], after: 0), keeping: 1 << 20)
        group.add(try batch(["c", "d"], after: 2), keeping: 1 << 20)
        #expect(ids(group.find(after: 0, newest: 4, limit: .max, isFirst: true)) == ["a", "b", "c", "d"])
        #expect(ids(group.find(after: 1, newest: 4, limit: .max, isFirst: true)) == ["b", "c", "d"])
        #expect(ids(group.find(after: 3, newest: 4, limit: .max, isFirst: false)) == ["d"])
        guard case .rows(_, 3, let through) = group.find(after: 0, newest: 4, limit: 3, isFirst: true) else {
            return #expect(Bool(false), "there are rows")
        }
        #expect(through == 3)
        guard case .nothing(4) = group.find(after: 4, newest: 4, limit: .max, isFirst: true) else {
            return #expect(Bool(false), "there is nothing")
        }
    }

    @Test func `changes over the limit are dropped, and a feed that needs them reads the database`() throws {
        var group = FeedGroup(nil, try row(), at: 0)
        let first = try batch(["a", "b"], after: 0)
        group.add(first, keeping: first.bytes.count)
        group.add(try batch(["c", "d"], after: 2), keeping: first.bytes.count)
        guard case .missing = group.find(after: 0, newest: 4, limit: .max, isFirst: true) else {
            return #expect(Bool(false), "it was to be forgotten")
        }
        #expect(ids(group.find(after: 2, newest: 4, limit: .max, isFirst: true)) == ["c", "d"])
    }

    @Test func `the feeds that have waited longest are woken first, and only if there are changes for them`() throws {
        var group = FeedGroup(nil, try row(), at: 0)
        let woken = Guarded<[Int]>([])
        for number in 1...3 { group.wait(number, at: 0) { woken.withLock { $0.append(number) } } }
        #expect(!group.hasNews && group.dequeueWaiting(3).isEmpty)
        group.add(try batch(["a"], after: 0), keeping: 1 << 20)
        group.wait(4, at: 1) {}
        group.leave(1)
        for wake in group.dequeueWaiting(1) { wake() }
        #expect(woken.withLock(\.self) == [2])
        for wake in group.dequeueWaiting(9) { wake() }
        #expect(woken.withLock(\.self) == [2, 3] && !group.hasNews && group.waiting == 1)
    }

    @Test func `the places of feeds that have left are forgotten, also if nothing changes`() throws {
        var group = FeedGroup(nil, try row(), at: 0)
        let woken = Guarded<[Int]>([])
        for number in 1...3 { group.wait(number, at: 0) { woken.withLock { $0.append(number) } } }
        for number in 4...5000 {
            group.wait(number, at: 0) {}
            group.leave(number)
            #expect(group.places < 80 && group.waiting == 3)
        }
        group.add(try batch(["a"], after: 0), keeping: 1 << 20)
        for wake in group.dequeueWaiting(9) { wake() }
        #expect(woken.withLock(\.self) == [1, 2, 3] && group.places == 0)
    }

    @Test func `feeds that show members whose names look the same share no rows`() throws {
        let query = try row().query
        // The same letter as one character, and as two.
        let kinds = try ["\u{E9}", "e\u{301}", "\u{E9}"].map { name in
            FeedKind(query, .selector(try MangoSelector([:]), try Projection([.string(name)])))
        }
        #expect(kinds[0] != nil && kinds[0] != kinds[1] && kinds[0] == kinds[2])
    }

    @Test func `a filter is forgotten with its last feed, also if nothing is committed`() throws {
        let (hub, row) = (FeedHub.of(database), try row("longpoll"))
        func enter(_ filter: ChangesFilter) throws -> FeedHub.Place {
            try hub.enter(FeedKind(row.query, filter), row)
        }
        let others = try (0..<50).map { try enter(.ids([DocumentID(unchecked: "d\($0)")])) }
        let (first, second, all) = (try enter(.ids(["a"])), try enter(.ids(["a"])), try enter(.all))
        #expect(hub.state.withLock { $0.groups.count } == 52)
        for place in others + [first] { hub.leave(place) }
        #expect(hub.state.withLock { $0.groups.count } == 2)
        // The rows of all changes are kept for the next request.
        for place in [second, all] { hub.leave(place) }
        #expect(hub.state.withLock { $0.groups.count } == 1)
        #expect(hub.state.withLock { $0.kinds.count } == 1)
    }

    @Test func `a feed does not set the position back to one that it read before another feed`() throws {
        let (hub, row) = (FeedHub.of(database), try row("longpoll"))
        let kind = FeedKind(row.query, .ids(["a"]))
        hub.leave(try hub.enter(kind, row))
        #expect(hub.state.withLock { !$0.isNeeded && $0.phase == .armed && $0.position == 0 })
        hub.state.withLock { $0.position = 2 }
        _ = try hub.enter(kind, row)
        #expect(hub.state.withLock { $0.position } == 2)
    }

    @Test func `feeds that wait again take turns, and those that have waited longest are next`() throws {
        var group = FeedGroup(nil, try row("longpoll"), at: 0)
        group.members = FeedHub.slice + 1
        let woken = Guarded<[Int]>([])
        func note(_ number: Int) -> @Sendable () -> Void { { woken.withLock { $0.append(number) } } }
        group.wait(1, at: 0, note(1))
        group.add(try batch(["a"], after: 0), keeping: 1 << 20)
        for number in [2, 3] {
            guard case .later = group.find(after: 0, newest: 1, limit: .max, isFirst: true, hasTurn: false) else {
                return #expect(Bool(false), "feed \(number) was to wait")
            }
            group.waitForTurn(number, at: 0, note(number))
        }
        // This one has seen all and waits for a change; the next one is queued after it.
        group.wait(4, at: 1, note(4))
        group.add(try batch(["b"], after: 1), keeping: 1 << 20)
        group.waitForTurn(5, at: 0, note(5))
        while group.hasNews { for wake in group.dequeueWaiting(1) { wake() } }
        #expect(woken.withLock(\.self) == [1, 2, 3, 4, 5] && group.waiting == 0)
        guard case .rows(_, 2, 2) = group.find(after: 0, newest: 2, limit: .max, isFirst: true, hasTurn: true) else {
            return #expect(Bool(false), "one whose turn it is gets its rows")
        }
    }
}
