import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleReplication

/// Servers that send attachments in unusual ways.
@Suite(.timeLimit(.minutes(5))) struct OddAttachmentTests {
    private let bytes = Array("hello".utf8)
    private static let stub =
        #"{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","length":5,"stub":true}"#

    private func row(_ attachment: String) -> OddServer.Answer {
        .init(
            200,
            #"{"results":[{"id":"a","docs":[{"ok":{"_id":"a","_rev":"1-a","_attachments":{"x":\#(attachment)}}}]}]}"#)
    }

    private func fetched(_ peer: CouchDBPeer) async throws -> PeerAttachment.Content? {
        try await peer.found([RevisionRequest(id: "a", revision: rev("1-a"))]).first?.attachments.first?.content
    }

    @Test(arguments: [
        #"{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"aGVsbG9v"}"#,
        #"{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"aGVsbGw="}"#,
        #"{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"%%"}"#, stub,
    ])
    func `data with a wrong digest is read again on its own`(_ answer: String) async throws {
        let server = try OddServer { request in
            if request.path == "/db/a/x" { return .init(200, Array("hello".utf8), headers: []) }
            return request.target.contains("attachments=true") ? row(answer) : row(Self.stub)
        }
        guard case .source(let source)? = try await fetched(server.peer()) else {
            Issue.record("wrong data was taken")
            return
        }
        #expect(try await source.bytes() == bytes)
    }

    @Test func `small attachments are fetched in one request`() async throws {
        let server = try OddServer { request in
            request.target.contains("attachments=true")
                ? row(
                    #"{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"aGVsbG8="}"#
                )
                : row(Self.stub)
        }
        guard case .bytes(let read)? = try await fetched(server.peer()) else {
            Issue.record("it did not come along")
            return
        }
        #expect(read == bytes && server.requests.count == 2)
    }

    private func source(
        _ server: OddServer, gzip: Bool = false, digest: String = "md5-XUFAKrxLKna5cZ2REBfFkg=="
    ) throws -> CouchDBAttachmentSource {
        CouchDBAttachmentSource(
            calls: try server.peer().calls(), id: "a", revision: try rev("1-a"), name: "x",
            digest: try #require(AttachmentDigest(digest)), encoding: gzip ? .gzip : .identity, length: 5)
    }

    @Test func `a server without ranges is read from the beginning, and known bytes are skipped`() async throws {
        let server = try OddServer { _ in .init(200, Array("hello".utf8), headers: []) }
        for offset in 0...5 {
            #expect(try await source(server).bytes(from: Int64(offset)) == Array(bytes[offset...]))
        }
    }

    @Test func `a range is accepted only if it begins where requested`() async throws {
        let server = try OddServer { request in
            let start = request.head.contains("bytes=2-") ? 2 : 4
            return .init(206, Array("hello".utf8.dropFirst(start)), headers: ["Content-Range: bytes \(start)-4/5"])
        }
        #expect(try await source(server).bytes(from: 2) == Array("llo".utf8))
        let error = await #expect(throws: PeerError.self) { try await source(server).bytes(from: 3) }
        #expect(error?.code == .attachmentMissing)
    }

    @Test func `an interrupted download is resumed`() async throws {
        let server = try OddServer { _ in
            .init(bytes: Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".utf8), isCut: true)
        }
        let taken = Guarded<[UInt8]>([])
        let error = await #expect(throws: PeerError.self) {
            try await source(server).read(from: 0) { piece in taken.withLock { $0 += piece } }
        }
        #expect(error?.isTransient == true && taken.withLock { $0 } == Array("hel".utf8))
    }

    @Test func `wrong content is not passed on to its end`() async throws {
        for text in ["hellx", "hello and more"] {
            let server = try OddServer { _ in .init(200, Array(text.utf8), headers: []) }
            let error = await #expect(throws: PeerError.self) { try await source(server).bytes() }
            #expect(error?.code == .attachmentMissing && error?.isTransient == false)
        }
        let short = try OddServer { _ in .init(200, Array("hell".utf8), headers: []) }
        let error = await #expect(throws: PeerError.self) { try await source(short).bytes() }
        #expect(error?.code == .connectionLost)
    }

    @Test func `compressed content is requested as it is stored, and no other encoding is accepted`() async throws {
        let server = try OddServer { request in
            let gzip = request.head.lowercased().contains("accept-encoding: gzip")
            return .init(200, Array("hello".utf8), headers: gzip ? ["Content-Encoding: gzip"] : [])
        }
        #expect(try await source(server, gzip: true).bytes() == bytes)
        #expect(try await source(server).bytes() == bytes)
        let expanding = try OddServer { _ in .init(200, Array("hello".utf8), headers: []) }
        let error = await #expect(throws: PeerError.self) { try await source(expanding, gzip: true).bytes() }
        #expect(error?.code == .attachmentMissing)
    }

    @Test func `an attachment that is gone is missing`() async throws {
        let server = try OddServer { _ in
            .init(404, #"{"error":"not_found","reason":"Document is missing attachment"}"#)
        }
        let error = await #expect(throws: PeerError.self) { try await source(server).bytes() }
        #expect(error?.code == .attachmentMissing && error?.isTransient == false)
    }

    @Test func `a revision that is refused alone does not block the others`() async throws {
        let server = try OddServer { request in
            switch request.path {
            case "/db/a": .init(403, #"{"error":"forbidden","reason":"no"}"#)
            case "/db/b": .init(413, #"{"error":"too_large","reason":"no"}"#)
            case "/db/c": .init(500, #"{"error":"x","reason":"no"}"#)
            case "/db/d": .init(201, #"{"ok":true}"#)
            default: .init(200, "{}")
            }
        }
        let packed = try attachment("x", bytes, type: "text/plain", encoding: .gzip, length: 9)
        let all = try ["a", "b", "c", "d"].map {
            try revision(DocumentID(validating: $0), "1-a", [:], isDeleted: false, [packed])
        }
        let outcomes = try await server.peer().store(all, branching: .allowed)
        #expect(outcomes.map(\.name) == ["refused forbidden", "refused too_large", "failed server_error", "stored"])
        let sent = try #require(server.requests.first { $0.path == "/db/d" })
        #expect(sent.target == "/db/d?new_edits=false" && sent.head.contains("Content-Length: \(sent.body.count)"))
        #expect(sent.text.contains(#""length":9,"follows":true,"encoding":"gzip","encoded_length":5"#))
        #expect(sent.text.contains("Content-Encoding: gzip\r\n\r\nhello\r\n--"))
    }

    @Test func `a refusal of everything is not an error of one revision`() async throws {
        let server = try OddServer { _ in .init(401, #"{"error":"unauthorized","reason":"no"}"#) }
        let packed = try attachment("x", bytes, type: "text/plain", encoding: .gzip, length: 9)
        let error = await #expect(throws: PeerError.self) {
            try await server.peer().store([revision("a", "1-a", [:], isDeleted: false, [packed])], branching: .allowed)
        }
        #expect(error?.code == .unauthorized)
    }
}
