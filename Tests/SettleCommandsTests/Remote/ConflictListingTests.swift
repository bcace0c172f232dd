import Foundation
import Settle
import SettleCore
import SettlePlatform
import SettleServer
import SettleTesting
import Testing

/// Lists of conflicts are read page by page, with a number of requests that does not depend on the number of documents on a page.
@Suite(.timeLimit(.minutes(5))) struct ConflictListingTests {
    /// More than a page of ids, and eleven times the documents that are fetched together.
    private static let count = 1_050

    /// Documents with two edits of one revision; the first has a third one, on one of these.
    private static func fill(_ database: Database) throws {
        try database.insertReplicated(
            try (0..<count).flatMap { number -> [ReplicatedRevision] in
                let id = DocumentID(unchecked: "d\(10_000 + number)")
                let edits =
                    [["a"], ["b", "a"], ["c", "a"]] + (number == 0 ? [["d", "b", "a"], ["e", "b", "a"]] : [])
                return try edits.map { signatures in
                    let history = try RevisionHistory(
                        start: UInt64(signatures.count), signatures: signatures.compactMap { RevisionSignature($0) })
                    return ReplicatedRevision(id: id, history: history, body: ["v": .string(signatures[0])])
                }
            })
    }

    @Test(arguments: [
        (["conflicts", "DB", "--json"], ["GET _conflicts": 4, "POST _conflicts": 11, "POST _bulk_get": 12]),
        (
            ["resolve", "DB", "--all", "--policy", "threeWayMerge", "--dry-run", "--json"],
            ["GET _conflicts": 4, "POST _conflicts": 11, "POST _bulk_get": 12]
        ),
        (["docs", "DB", "--conflicts", "--json"], ["GET _conflicts": 2, "POST _all_docs": 2]),
    ])
    func `conflicts are listed by requests for each page`(words: [String], expected: [String: Int]) throws {
        let remote = try RemoteRoom(preparing: { store in
            let database = try store.create("db")
            try Self.fill(database)
            database.close()
        })
        let requests = Guarded<[String: Int]>([:])
        let proxy = try FaultProxy(
            to: remote.port,
            plan: FaultPlan("counts requests") { request, _ in
                let parts = request.path.prefix { $0 != "?" }.split(separator: "/")
                if parts.count == 2 { requests.withLock { $0["\(request.method) \(parts[1])", default: 0] += 1 } }
                return .none
            })
        defer { proxy.stop() }
        let url = remote.url(behind: proxy)
        let outcome = try remote.run(all: words.map { $0 == "DB" ? url : $0 })
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.count { $0.hasPrefix("{\"id\":\"d1") } == Self.count)
        #expect(requests.withLock { $0 } == expected)
        let folder = remote.room.path("local")
        let database = try Database.create(folder)
        try Self.fill(database)
        database.close()
        #expect(try remote.run(all: words.map { $0 == "DB" ? folder : $0 }).output == outcome.output)
        let other = try remote.disguise()
        defer { other.stop() }
        let disguised = try remote.run(all: words.map { $0 == "DB" ? remote.url(behind: other) : $0 })
        #expect(disguised.output == outcome.output.replacing(/,"side":"[a-z]+"/, with: ""), "\(disguised.errors)")
    }

    @Test func `conflicts are listed at a server that accepts fewer documents in one request`() throws {
        let remote = try RemoteRoom(
            { $0.bulkGets = 110 },
            preparing: { store in
                let database = try store.create("db")
                try Self.fill(database)
                database.close()
            })
        let outcome = try remote.run("conflicts", remote.url(), "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.lines.count { $0.hasPrefix("{\"id\":\"d1") } == Self.count)
    }

    @Test
    func `a policy that asks where a leaf came from is refused for a document whose leaves the server does not show`()
        throws
    {
        let remote = try RemoteRoom(preparing: { store in
            let database = try store.create("db")
            for signatures in [["b", "a"], ["c", "a"]] {
                try database.insertReplicated([
                    ReplicatedRevision(
                        id: "..",
                        history: RevisionHistory(
                            start: 2, signatures: signatures.compactMap { RevisionSignature($0) }),
                        body: ["v": .string(signatures[0])])
                ])
            }
            database.close()
        })
        let refused = try remote.run("show", remote.url(), "..", "--policy", "localWins")
        #expect(refused.status == 2 && refused.errors.contains("the server does not report"), "\(refused)")
        #expect(try remote.run("show", remote.url(), "..", "--policy", "threeWayMerge").status == 0)
    }
}
