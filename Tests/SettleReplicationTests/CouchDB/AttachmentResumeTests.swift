import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Attachments that arrive in parts, with a process restart in between.
@Suite(.timeLimit(.minutes(5))) struct AttachmentResumeTests {
    private let folder: TemporaryFolder
    private let bytes: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        var generator = SeededRandom(seed: 11)
        bytes = generator.bytes(900_000)
    }

    private func open() throws -> Database { try Database.openOrCreate(folder("notes.settle")) }

    private func partial() throws -> [String] {
        let place = folder("notes.settle") + "/attachments/partial"
        return try FileManager.default.contentsOfDirectory(atPath: place).map { "\(place)/\($0)" }
    }

    private func store(_ source: some AttachmentSource, in database: Database) async throws -> StoreOutcome? {
        let sent = try revision("a", "1-a", [:], isDeleted: false, [attachment("x", bytes, content: .source(source))])
        return try await LocalPeer(database).store([sent], branching: .allowed).first
    }

    /// Fetches the first bytes, and ends like a killed process.
    private func bringSome(_ count: Int) async throws {
        let notes = try open()
        let outcome = try await store(Parts(bytes, endingAt: count), in: notes)
        guard case .failed(let error) = outcome else {
            Issue.record("\(outcome as Any)")
            return
        }
        #expect(error.code == .connectionLost)
        notes.close()
        #expect(try partial().count == 1)
    }

    private func content(in database: Database) throws -> [UInt8]? {
        guard let attachment = try database.document("a")?.attachment("x") else { return nil }
        return try database.content(of: attachment)
    }

    @Test func `bytes received before the process ended are not requested again`() async throws {
        try await bringSome(500_000)
        let notes = try open()
        let source = Parts(bytes)
        let outcome = try await store(source, in: notes)
        guard case .stored? = outcome else {
            Issue.record("\(outcome as Any)")
            return
        }
        #expect(source.offsets == [500_000])
        #expect(try content(in: notes) == bytes)
        #expect(try partial().isEmpty && notes.verify().problems.isEmpty)
        notes.close()
    }

    @Test func `a complete content is only verified`() async throws {
        try await bringSome(900_000)
        let notes = try open()
        let source = Parts(bytes)
        _ = try await store(source, in: notes)
        #expect(source.offsets == [900_000])
        #expect(try content(in: notes) == bytes)
        notes.close()
    }

    @Test func `kept bytes with a wrong digest are downloaded again`() async throws {
        try await bringSome(500_000)
        let file = try #require(try partial().first)
        try Data(repeating: 7, count: 400_000).write(to: URL(fileURLWithPath: file))
        let notes = try open()
        let source = Parts(bytes)
        _ = try await store(source, in: notes)
        #expect(source.offsets == [400_000, 0])
        #expect(try content(in: notes) == bytes)
        // A file that is too long is discarded.
        try Data(repeating: 7, count: 900_001).write(to: URL(fileURLWithPath: file))
        try notes.purge("a")
        let again = Parts(bytes)
        _ = try await store(again, in: notes)
        #expect(again.offsets == [0])
        #expect(try content(in: notes) == bytes)
        notes.close()
    }

    @Test func `as long as bytes arrive, an attachment may be cut any number of times`() async throws {
        let notes = try open()
        let source = Parts(bytes, piece: 50_000)
        _ = try await store(source, in: notes)
        #expect(source.offsets.count == 18)
        #expect(try content(in: notes) == bytes)
        notes.close()
    }

    @Test(arguments: [400, 401, 403, 404, 409, 412, 413])
    func `a status in place of a content is not a refusal of the document, which is retried`(
        _ status: Int
    ) async throws {
        let notes = try open()
        let outcome = try await store(Refusing(status: status), in: notes)
        guard case .failed(let error) = outcome else {
            Issue.record("\(outcome as Any)")
            return
        }
        #expect(error.status == status)
        notes.close()
    }

    @Test func `compaction removes partial downloads that are not resumed`() async throws {
        try await bringSome(500_000)
        let notes = try open()
        try await notes.compact()
        #expect(try partial().isEmpty)
        let source = Parts(bytes)
        _ = try await store(source, in: notes)
        #expect(source.offsets == [0])
        notes.close()
    }
}

/// A source that records the offsets it is read from. It is cut at one offset permanently, or after each given number
/// of bytes.
private final class Parts: AttachmentSource {
    private let bytes: [UInt8]
    private let end: Int?
    private let piece: Int?
    private let asked = Guarded<[Int64]>([])

    init(_ bytes: [UInt8], endingAt end: Int? = nil, piece: Int? = nil) {
        (self.bytes, self.end, self.piece) = (bytes, end, piece)
    }

    var offsets: [Int64] { asked.withLock(\.self) }

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        asked.withLock { $0.append(offset) }
        let stop = min(end ?? bytes.count, piece.map { Int(offset) + $0 } ?? bytes.count)
        var place = Int(offset)
        while place < stop {
            let next = min(stop, place + 30_000)
            try await body(Array(bytes[place..<next]))
            place = next
        }
        if end != nil || stop < bytes.count { throw PeerError(.connectionLost, "the source was cut off") }
    }
}

/// A source that answers with an error status.
private struct Refusing: AttachmentSource {
    let status: Int

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        throw PeerError(status == 404 ? .attachmentMissing : .badRequest, "refused", status: status)
    }
}
