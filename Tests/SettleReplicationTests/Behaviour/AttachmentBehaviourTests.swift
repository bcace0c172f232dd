import Settle
import SettleTesting
import Testing

/// Replication of attachments.
@Suite(.timeLimit(.minutes(5)))
struct AttachmentBehaviourTests {
    private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return random.bytes(count)
    }

    @Test(arguments: PeerPair.everywhere)
    func `small and large attachments arrive, compressed ones as they are stored`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let database = source.database
        let large = Self.bytes(20 * 1024 * 1024, seed: 1)
        var document = Document(id: "files", body: ["n": 1])
        document.attach(try database.makeAttachment("empty", content: []))
        document.attach(
            try database.makeAttachment("small.txt", contentType: "text/plain", content: Array("Hello".utf8)))
        document.attach(
            try database.makeAttachment(
                "long.txt", contentType: "text/plain", content: Array(String(repeating: "na ", count: 100_000).utf8)))
        document.attach(try database.makeAttachment("large", content: large))
        try database.save(document, onConflict: .fail)
        try await replicate(source, to: target)
        try expectSame(source.database, target.database)
        let arrived = try #require(try target.database.document("files"))
        let attachment = try #require(arrived.attachment("large"))
        #expect(try target.database.content(of: attachment) == large)
        let text = try #require(arrived.attachment("long.txt"))
        #expect(try target.database.content(of: text).count == 300_000)
        #expect(try target.database.verify().problems.isEmpty)
    }

    @Test(arguments: PeerPair.everywhere)
    func `an attachment that the target has is not sent again`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        var document = Document(id: "files", body: ["n": 1])
        document.attach(try source.database.makeAttachment("a", content: Self.bytes(300_000, seed: 2)))
        document = try source.database.save(document, onConflict: .fail)
        let first = try await replicate(source, to: target)
        #expect(first.counts.bytesWritten > 300_000)
        document["n"] = 2
        document.attach(try source.database.makeAttachment("b", content: Self.bytes(1000, seed: 3)))
        try source.database.save(document, onConflict: .fail)
        let second = try await replicate(source, to: target)
        #expect(second.counts.bytesWritten < 10_000)
        try expectSame(source.database, target.database)
    }

    @Test(arguments: PeerPair.everywhere)
    func `one content in many documents is stored once`(pair: PeerPair) async throws {
        let (source, target) = try await pair.make()
        let content = Self.bytes(200_000, seed: 4)
        for number in 0..<5 {
            var document = Document(id: try DocumentID(validating: "d\(number)"))
            document.attach(try source.database.makeAttachment("a", content: content))
            try source.database.save(document, onConflict: .fail)
        }
        try await replicate(source, to: target)
        #expect(try target.database.info().blobs == 1)
        try expectSame(source.database, target.database)
    }
}
