import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Transfer of attachments, at each available server.
@Suite(.timeLimit(.minutes(5))) struct CouchDBAttachmentTests {
    private let home = PeerHome()

    private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let gzip = try Gzip(.compress)
        var packed: [UInt8] = []
        try bytes.withUnsafeBytes { buffer in
            try gzip.process(buffer, isLast: true) { packed.append(contentsOf: $0) }
        }
        return packed
    }

    private func random(_ count: Int) -> [UInt8] {
        var generator = SeededRandom(seed: 7)
        return generator.bytes(count)
    }

    @Test(arguments: ServerKind.all)
    func `small, large and compressed attachments are read back as they were stored`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let (small, large) = (random(2000), random(700_000))
        let text = Array(String(repeating: "to be or not to be, ", count: 5000).utf8)
        let packed = try gzip(text)
        let all = [
            try revision("small", "1-a", [:], isDeleted: false, [attachment("s/ä\"", small), attachment("empty", [])]),
            try revision(
                "mixed", "1-a", ["v": 1], isDeleted: false,
                [
                    attachment("small", small), attachment("large", large),
                    attachment("text", packed, type: "text/plain", encoding: .gzip, length: Int64(text.count)),
                ]),
        ]
        #expect(try await peer.store(all, branching: .allowed).map(\.name) == ["stored", "stored"])
        let read = try await peer.found(all.map { RevisionRequest(id: $0.id, revision: $0.revision) })
        #expect(read.count == 2)
        for (was, now) in zip(all, read) {
            #expect(now.attachments.count == was.attachments.count)
            for attachment in was.attachments {
                let same = try #require(now.attachments.first { $0.name == attachment.name })
                #expect(same.digest == attachment.digest && same.contentType == attachment.contentType)
                #expect(same.length == attachment.length && same.encoding == attachment.encoding)
                guard case .bytes(let bytes) = attachment.content else { continue }
                switch same.content {
                case .stub: Issue.record("\(same.name) is a stub")
                case .bytes(let got): #expect(got == bytes && was.id == "small")
                case .source(let source):
                    #expect(was.id == "mixed")
                    #expect(try await source.bytes() == bytes)
                    let half = Int64(bytes.count / 2)
                    #expect(try await source.bytes(from: half) == Array(bytes[Int(half)...]))
                    #expect(try await source.bytes(from: Int64(bytes.count)).isEmpty)
                }
            }
        }
    }

    @Test(arguments: ServerKind.all)
    func `an attachment that an ancestor at the target has is sent as a stub`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let old = try attachment("old", random(100))
        _ = try await peer.store([revision("a", "1-a", [:], isDeleted: false, [old])], branching: .allowed)
        let stub = try attachment("old", random(100), content: .stub)
        let news = try attachment("new", random(200), revpos: 2)
        let next = try revision("a", "2-b 1-a", [:], isDeleted: false, [stub, news])
        #expect(try await peer.store([next], branching: .allowed).map(\.name) == ["stored"])
        func contents(_ known: [RevisionID]) async throws -> [String: String] {
            let read = try await peer.found([RevisionRequest(id: "a", revision: rev("2-b"), knownAncestors: known)])
            return Dictionary(
                uniqueKeysWithValues: (read.first?.attachments ?? []).map { attachment in
                    switch attachment.content {
                    case .stub: (attachment.name, "stub")
                    case .bytes(let bytes): (attachment.name, "\(bytes.count)")
                    case .source: (attachment.name, "source")
                    }
                })
        }
        #expect(try await contents([]) == ["old": "100", "new": "200"])
        #expect(try await contents([rev("1-a")]) == ["old": "stub", "new": "200"])
        #expect(try await contents([rev("1-x")]) == ["old": "100", "new": "200"])
    }

    @Test(arguments: ServerKind.all)
    func `a stub without content at the target fails alone, and is sent again whole`(_ kind: ServerKind) async throws {
        let peer = try home.peer(kind)
        try await peer.create()
        let stub = try attachment("old", random(100), content: .stub)
        let all = [
            try revision("a", "1-a"), try revision("b", "2-b 1-a", [:], isDeleted: false, [stub]),
            try revision("c", "1-a"),
            try revision(
                "d", "2-b 1-a", [:], isDeleted: false,
                [stub, attachment("large", random(100_000), content: .source(Cut(random(100_000), at: [])))]),
        ]
        #expect(
            try await peer.store(all, branching: .allowed).map(\.name)
                == ["stored", "failed attachment_missing", "stored", "failed attachment_missing"])
    }

    @Test(arguments: ServerKind.all)
    func `an interrupted download is resumed within the same request`(_ kind: ServerKind) async throws {
        let counting = CountingClient(DefaultTransport())
        let peer = try home.peer(kind, client: counting)
        try await peer.create()
        let bytes = random(500_000)
        let source = Cut(bytes, at: [0, 1, 250_000, 499_999])
        let sent = try revision("a", "1-a", [:], isDeleted: false, [attachment("x", bytes, content: .source(source))])
        #expect(try await peer.store([sent], branching: .allowed).map(\.name) == ["stored"])
        #expect(counting.count("\(peer.url.path)/a") == 1)
        let read = try await peer.found([RevisionRequest(id: "a", revision: rev("1-a"))])
        guard case .source(let stored)? = read.first?.attachments.first?.content else {
            Issue.record("it should be read by itself")
            return
        }
        #expect(try await stored.bytes() == bytes)
    }

    @Test func `a source that stays interrupted, or has too few bytes, fails its revision alone`() async throws {
        let peer = try home.peer(.settle)
        try await peer.create()
        let bytes = random(100_000)
        let dead = Cut(bytes, at: [50_000, 50_000, 50_000, 50_000, 50_000])
        let short = Cut(Array(bytes.dropLast()), at: [])
        let outcomes = try await peer.store(
            [
                revision("a", "1-a", [:], isDeleted: false, [attachment("x", bytes, content: .source(dead))]),
                revision("b", "1-a", [:], isDeleted: false, [attachment("x", bytes, content: .source(short))]),
                revision("c", "1-a", [:], isDeleted: false, [attachment("x", bytes)]),
            ], branching: .allowed)
        #expect(outcomes.map(\.name) == ["failed connection_lost", "failed attachment_missing", "stored"])
        #expect(try await peer.changes(ChangesRequest()).changes.map(\.id) == ["c"])
    }
}

/// A source that is cut at some offsets, each once in the given order.
private final class Cut: AttachmentSource {
    private let bytes: [UInt8]
    private let cuts: Guarded<ArraySlice<Int>>

    init(_ bytes: [UInt8], at cuts: [Int]) {
        self.bytes = bytes
        self.cuts = Guarded(cuts[...])
    }

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        let cut = cuts.withLock { $0.popFirst() }
        var place = Int(offset)
        let end = cut ?? bytes.count
        while place < end {
            let piece = bytes[place..<min(end, place + 30_000)]
            try await body(Array(piece))
            place = piece.endIndex
        }
        if cut != nil { throw PeerError(.connectionLost, "the source was cut off") }
    }
}
