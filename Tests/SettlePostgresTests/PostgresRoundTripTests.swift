import PostgresTesting
import SettleCore
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettlePostgres

/// How many round trips a request's questions take, counted between node and PostgreSQL.
@Suite(.enabled(if: Cluster.isThere, Comment(rawValue: Cluster.absence))) struct PostgresRoundTripTests {
    /// A node whose background threads are stopped, so that it sends PostgreSQL only the queries of the test.
    private func quietNode(_ proxy: CuttingProxy) throws -> PostgresStore {
        let node = try PostgresStore(Cluster.configuration(port: proxy.port))
        node.hub.stop()
        return node
    }

    @Test func `within a request, what was read since it began needs no round trip`() throws {
        let proxy = try CuttingProxy(to: Cluster.port)
        defer { proxy.stop() }
        let (first, other, name) = try Cluster.newDatabase()
        let node = try quietNode(proxy)
        let database = try node.open(name)
        func trips(_ body: () throws -> Void) throws -> Int {
            try proxy.trips {
                try body()
                // The end of a snapshot is read by the next query.
                _ = try database.storedRecord(of: "none", withContent: false)
            } - 1
        }
        let edits = (0..<300).map { DocumentEdit(id: DocumentID(unchecked: "d\($0)"), parent: nil, body: [:]) }
        for result in try database.write(edits) { _ = try result.get() }
        try Freshness.answering {
            _ = database.settingsEpoch
            let counted = [
                try trips { _ = database.settingsEpoch },
                try trips { _ = try database.lastSequence() },
                try trips { _ = try database.attributesKeptOnDelete() },
                try trips { _ = try database.sizes() },
                // The query, and the end of the snapshot.
                try trips { _ = try database.counts() },
                try trips {
                    try database.snapshot {
                        _ = try database.records(changedIn: SequenceRange(after: 0), limit: 200, withContent: true)
                        _ = (try database.lastSequence(), try database.attributesKeptOnDelete())
                    }
                },
            ]
            #expect(counted == [0, 0, 0, 1, 2, 2])
            #expect(try database.lastSequence() == 300)
            #expect(try database.counts().live == 300)
        }
        // What another node writes is seen by the next request, and by a snapshot as a whole.
        try other.save(Document(id: "other", body: [:]))
        try other.setAttributesKeptOnDelete(["kind"])
        try Freshness.answering {
            _ = database.settingsEpoch
            #expect(try database.lastSequence() == 301)
            #expect(try database.attributesKeptOnDelete() == ["kind"])
            try other.setAttributesKeptOnDelete(["type"])
            try database.snapshot {
                #expect(try database.attributesKeptOnDelete() == ["type"])
                try other.setAttributesKeptOnDelete([])
                try other.save(Document(id: "late", body: [:]))
                #expect(try database.attributesKeptOnDelete() == ["type"])
                #expect(try database.lastSequence() == 301)
                #expect(try database.counts().live == 301)
            }
        }
        // Without a request, nothing that was read before is used.
        #expect(try database.lastSequence() == 302)
        #expect(try database.attributesKeptOnDelete() == [])
        withExtendedLifetime((first, node)) {}
    }

    @Test func `the document that a request reads first comes with what other nodes have changed`() throws {
        let proxy = try CuttingProxy(to: Cluster.port)
        defer { proxy.stop() }
        let (first, other, name) = try Cluster.newDatabase()
        let node = try quietNode(proxy)
        let database = try node.open(name)
        let (short, long) = (DocumentID(unchecked: "short"), DocumentID(unchecked: "long"))
        try other.save(Document(id: short, body: ["n": 1]))
        try other.save(Document(id: long, body: ["text": .string(String(repeating: "x", count: 100_000))]))
        /// A request that uses what it has read ahead also on a machine that keeps it waiting.
        func patient(_ expected: DocumentID?) -> SharedRequest {
            SharedRequest(expecting: expected.map { SharedRequest.Expected($0, in: name) }, validity: .seconds(600))
        }
        func read(_ id: DocumentID, expecting expected: DocumentID?) throws -> DocumentRecord? {
            let request = patient(expected)
            return try Freshness.answering(request) {
                try node.freshen([name])
                return try database.storedRecord(of: id, withContent: true)
            }
        }
        /// The round trips of a request, and the length of the body that it read.
        func cost(of id: DocumentID, expecting expected: DocumentID?) throws -> [Int] {
            var length = 0
            let count = try proxy.trips { length = try read(id, expecting: expected)?.content?.body.utf8.count ?? 0 }
            return [count, length]
        }
        #expect(try cost(of: short, expecting: short) == [1, 7])
        #expect(try cost(of: short, expecting: nil) == [2, 7])
        #expect(try cost(of: short, expecting: long) == [2, 7])
        #expect(try cost(of: long, expecting: long) == [2, 100_011])
        #expect(try cost(of: "none", expecting: "none") == [1, 0])
        #expect(try cost(of: "none", expecting: nil) == [2, 0])

        // A write is compared with what it has read, so it can begin with that.
        var parent = try other.document(short)?.revision
        func write(expecting expected: DocumentID?) throws {
            let request = patient(expected)
            try Freshness.answering(request) {
                try node.freshen([name])
                parent = try database.write([DocumentEdit(id: short, parent: parent, body: ["n": 1])])[0].get()
            }
        }
        #expect(try proxy.trips { try write(expecting: short) } == proxy.trips { try write(expecting: nil) } - 1)
        // What another node writes in between makes it read again.
        let late = SharedRequest(expecting: SharedRequest.Expected(short, in: name))
        try Freshness.answering(late) {
            try node.freshen([name])
            let edit = DocumentEdit(id: short, parent: parent, body: ["n": 1, "by": "other"])
            let theirs = try other.write([edit])[0].get()
            let mine = try database.write([DocumentEdit(id: short, parent: parent, body: ["n": 1, "by": "node"])])[0]
            #expect(throws: DatabaseError.self) { try mine.get() }
            parent = try database.write([DocumentEdit(id: short, parent: theirs, body: ["n": 1])])[0].get()
        }

        // A request sees what was written before it, and at its second reading what was written meanwhile.
        let request = SharedRequest(expecting: SharedRequest.Expected(short, in: name))
        try Freshness.answering(request) {
            try node.freshen([name])
            #expect(try database.storedRecord(of: short, withContent: false)?.content == nil)
            var document = try #require(try other.document(short))
            document["n"] = 2
            try other.save(document)
            #expect(try database.storedRecord(of: short, withContent: true)?.content?.body.json["n"] == 2)
        }
        #expect(try read(short, expecting: short)?.content?.body.json["n"] == 2)
        // Once the node knows of a later commit, the document is read again: caches have that commit as their key.
        let passed = SharedRequest(expecting: SharedRequest.Expected(short, in: name))
        try Freshness.answering(passed) {
            try node.freshen([name])
            _ = try database.write([DocumentEdit(id: "another", parent: nil, body: [:])])[0].get()
            var document = try #require(try other.document(short))
            document["n"] = 3
            parent = try other.save(document).revision
            #expect(try database.storedRecord(of: short, withContent: true)?.content?.body.json["n"] == 3)
        }
        // A document of another database with the same name is not it.
        let kept = SharedRequest(expecting: SharedRequest.Expected(short, in: name))
        try Freshness.answering(kept) {
            try node.freshen([name])
            #expect(kept.take(short, of: 1) == nil)
            #expect(try database.storedRecord(of: short, withContent: true) != nil)
        }
        // One that waited for long is read again.
        for (age, isTaken) in [(Duration.zero, true), (.seconds(601), false)] {
            let waited = patient(nil)
            let document = SharedRequest.Document(short, nil, edition: 0, of: 7, at: 1, readAt: .now - age)
            waited.keep(document)
            #expect((waited.take(short, of: 7) != nil) == isTaken && waited.take(short, of: 7) == nil)
        }
        withExtendedLifetime(first) {}
    }

    @Test func `a request about a name that no database can have reads what other nodes have changed`() throws {
        let (store, database, name) = try Cluster.newDatabase()
        try database.save(Document(id: "a", body: ["n": 1]))
        let wrong = "\(name)\u{0}"
        try Freshness.answering(SharedRequest(expecting: SharedRequest.Expected("a", in: wrong))) {
            try store.freshen([wrong, name])
            #expect(try database.document("a")?["n"] == 1)
        }
    }

    @Test func `the check of all rows may take longer than other queries`() throws {
        let (store, _, name) = try Cluster.newDatabase()
        let number = try #require(try store.find([name]).first).number
        let connection = try store.pool.connect()
        let link = RecordingLink(connection)
        #expect(try PostgresReader(number, link).report(on: .check).problems == [])
        #expect(link.asked.count == 3)
        for calls in link.asked {
            #expect(calls.first?.statement == .allowLong)
            #expect(PostgresConnection.limit(of: calls) == PostgresConnection.longPatience)
        }
        func limit() throws -> String { try connection.runText("SHOW statement_timeout")[0].text(0, 0) }
        _ = try connection.run([PostgresCall(.begin), PostgresCall(.allowLong)])
        #expect(try limit() == "10min")
        _ = try connection.run([PostgresCall(.rollback)])
        #expect(try limit() == "30s")
    }

    @Test func `a connection plans without sorting and without compiling`() throws {
        _ = try Cluster.node()
        let pool = PostgresPool(try Cluster.configuration())
        for name in ["enable_sort", "jit"] {
            let answer = try pool.with { try $0.runText("SHOW \(name)")[0].text(0, 0) }
            #expect(answer == "off", "\(name)")
        }
    }
}

/// Keeps what a reader asks.
private final class RecordingLink: PostgresLink {
    private let connection: PostgresConnection
    private(set) var asked: [[PostgresCall]] = []

    init(_ connection: PostgresConnection) { self.connection = connection }

    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] {
        asked.append(calls)
        return try connection.run(calls)
    }
}

extension CuttingProxy {
    /// The fewest round trips of a closure, on a node whose threads were stopped: their questions would count, too.
    fileprivate func trips(_ body: () throws -> Void) throws -> Int {
        // The first uses of a statement prepare it, and a thread that was stopped may still end what it has begun.
        try (0..<8).map { _ in
            let before = roundTrips
            try body()
            return roundTrips - before
        }.min() ?? 0
    }
}
