import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import SettleViews
import Testing

/// A live query runs again only when a change can matter to it, and its results are those of the query at each time.
@Suite(.timeLimit(.minutes(5))) struct LiveQueryTests {
    private let database: Database
    init() throws {
        database = try Database.plain()
        for n in 0..<10 {
            try database.save(Document(id: DocumentID.numbered(n), body: ["n": JSONValue(n), "kind": "a"]))
        }
    }

    @Test func `writes of documents that do not match run no query`() async throws {
        var live = database.observe(DocumentQuery<JSONValue>().where { $0["n"] >= 5 }).makeAsyncIterator()
        #expect(try await live.next()?.rows.count == 5)
        for n in 0..<50 { try database.save(Document(body: ["n": JSONValue(n % 5)])) }
        try database.delete("d3")
        try database.update("d1") { $0["n"] = 2 }
        try database.update("d7") { $0["n"] = 70 }
        #expect(try await live.next()?.values.contains { $0["n"] == 70 } == true)
        #expect(live.runs == 2)
    }

    @Test func `a document that comes into conflict is found by its conflicts`() async throws {
        let query = DocumentQuery<JSONValue>(try MangoSelector(["_conflicts": ["$exists": true]])).withConflicts()
        var live = database.observe(query).makeAsyncIterator()
        #expect(try await live.next()?.rows.isEmpty == true)
        let losing = ReplicatedRevision(
            id: "d3", history: RevisionHistory(try #require(RevisionID("1-0"))), body: ["n": 1])
        try database.insertReplicated([losing])
        #expect(try await live.next()?.rows.map(\.id) == ["d3"])
    }

    @Test func `a document that is purged while the query runs does not stay`() async throws {
        let database = database
        for n in 0..<10 {
            let id = DocumentID.numbered(n)
            async let purged = database.perform { try $0.purge(id) }
            var live = database.observe(DocumentQuery<JSONValue>()).makeAsyncIterator()
            var shown = try await live.next()
            _ = try await purged
            while shown?.rows.contains(where: { $0.id == id }) == true { shown = try await live.next() }
            #expect(shown?.rows.count == 9 - n)
        }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `whatever is written, the observer ends with what the query finds`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var query = DocumentQuery<JSONValue>().where { $0["n"] >= 4 && $0["n"] < 9 }
        if random.oneIn(2) {
            try database.createIndex(on: "n")
            query = query.sorted(by: "n")
        }
        if random.oneIn(2) { query = query.prefix(3) }
        if random.oneIn(3) { query = query.dropFirst(1) }
        if random.oneIn(4) { query = query.selecting("n") }
        var live = database.observe(query).makeAsyncIterator()
        var shown = try await live.next()
        for _ in 0..<40 {
            let id = DocumentID.numbered(random.below(14))
            switch random.below(6) {
            case 0 where try database.document(id) != nil: try database.delete(id)
            case 1: try database.purge(id)
            default: try database.updateOrCreate(id) { $0["n"] = JSONValue(random.below(12)) }
            }
            let now = try await database.find(query)
            if now.rows.map(\.mark) != shown?.rows.map(\.mark) { shown = try await live.next() }
            #expect(shown?.rows.map(\.mark) == now.rows.map(\.mark), "seed \(seed)")
        }
    }
}

extension DocumentID {
    fileprivate static func numbered(_ number: Int) -> DocumentID { DocumentID(stringLiteral: "d\(number)") }
}

extension Saved<JSONValue> {
    fileprivate var mark: String { "\(id) \(revision?.description ?? "-") \(value)" }
}
