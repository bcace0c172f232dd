import Settle
import SettleDatabase
import SettleMobile
import Testing

@testable import SettleServer

/// Revisions that wait for the contents of their blobs.
@Suite struct BlobQueueTests {
    private let client: RouterClient
    private let database: Database

    init() throws {
        client = try RouterClient.withDatabase()
        database = try client.server.state.databases.open("db")
    }

    private func revision(_ number: UInt64, _ digests: [String], padding: Int = 0) throws -> PushedRevision {
        var members = JSONObject(
            digests.enumerated().map { ("m\($0.offset)", ["@type": "blob", "digest": .string($0.element)]) })
        members["padding"] = .string(String(repeating: "x", count: padding))
        let message = BLIPMessage(
            number: number, properties: ["Profile": "rev", "id": "d\(number)", "rev": "1-ab"],
            body: JSONValue.object(members).utf8)
        return try PushedRevision(message, in: database, collection: 0, limit: 100 << 20)
    }

    @Test func `two contents are asked for at a time, each digest once, and the revision leaves with its last`() throws
    {
        var queue = BlobQueue()
        let added = [queue.add(try revision(1, ["a", "b", "a"])), queue.add(try revision(2, ["c"]))]
        let (first, second, none) = (queue.next(), queue.next(), queue.next())
        #expect(added == [true, true] && none == nil)
        #expect([first?.content.digest, second?.content.digest] == ["a", "b"])
        let content = try database.makeAttachment("x", content: [1])
        let early = queue.fill(try #require(first), with: content)
        let third = queue.next()
        #expect(early == nil && third?.content.digest == "c")
        let filled = queue.fill(try #require(second), with: content)
        let complete = try #require(filled)
        #expect(complete.message.number == 1 && complete.missing.isEmpty)
        let names = try complete.complete().document.attachments.map(\.name)
        #expect(names.sorted() == ["blob_/m0", "blob_/m1", "blob_/m2"])
    }

    @Test func `a revision is refused once, and what it asked for besides is passed over`() throws {
        var queue = BlobQueue()
        _ = queue.add(try revision(1, ["a", "b", "c"]))
        let (first, second) = (queue.next(), queue.next())
        let refused = queue.fail(try #require(first))
        let again = queue.fail(try #require(second))
        let rest = queue.next()
        #expect(refused?.message.number == 1 && again == nil && rest == nil)
    }

    @Test func `no more than 64 revisions wait, nor more than 32 MiB`() throws {
        var queue = BlobQueue()
        let added = try (1...65).map { queue.add(try revision(UInt64($0), ["a"])) }
        #expect(added == Array(repeating: true, count: 64) + [false])
        var large = BlobQueue()
        let room = try (1...2).map { large.add(try revision(UInt64($0), ["a"], padding: 20 << 20)) }
        #expect(room == [true, false])
    }
}
