import Settle
import SettleMobile
import Testing

@testable import SettleServer

/// Contents are found by the digests of their bytes, not by the digests in documents.
@Suite struct MobileDigestTests {
    private static func blob(_ digest: String) -> JSONValue {
        ["@type": "blob", "digest": .string(digest), "content_type": "text/plain", "length": 4]
    }

    private func ask(_ digest: String, of id: String, _ client: RouterClient) throws -> [UInt8] {
        let message = BLIPMessage(properties: ["Profile": "getAttachment", "digest": digest, "docID": id])
        let database = try client.server.state.databases.open("db")
        return try MobileAttachments(database: database).answer(message).body
    }

    @Test func `a content is not sent for a digest that it does not have`() throws {
        let client = try RouterClient.withDatabase()
        let (good, evil) = (Array("good".utf8), Array("EVIL".utf8))
        // The content is `EVIL`, and the document says that it is `good`.
        let lie: JSONValue = [
            "photo": Self.blob(MobileDigest.of(good)),
            "_attachments": ["blob_/photo": ["content_type": "text/plain", "data": "RVZJTA=="]],
        ]
        #expect(try client.send("PUT", "/db/lie", lie).status == 201)
        #expect(throws: BLIPError.self) { try ask(MobileDigest.of(good), of: "lie", client) }
        let truth: JSONValue = [
            "photo": Self.blob(MobileDigest.of(evil)),
            "_attachments": ["blob_/photo": ["content_type": "text/plain", "data": "RVZJTA=="]],
        ]
        #expect(try client.send("PUT", "/db/truth", truth).status == 201)
        #expect(try ask(MobileDigest.of(evil), of: "truth", client) == evil)
    }

    @Test func `a new content changes its own blob, and not one whose member's name looks the same`() throws {
        let client = try RouterClient.withDatabase()
        let digest = { (text: String) in MobileDigest.of(Array(text.utf8)) }
        // The same letter as one character, and as two.
        let files: JSONValue = [
            "blob_/\u{E9}": ["content_type": "text/plain", "data": "Z29vZA=="],
            "blob_/e\u{301}": ["content_type": "text/plain", "data": "RVZJTA=="],
        ]
        let document: JSONValue = [
            "\u{E9}": Self.blob(digest("good")), "e\u{301}": Self.blob(digest("EVIL")), "_attachments": files,
        ]
        let revision = try client.send("PUT", "/db/a", document).json["rev"]?.string ?? ""
        let path = "/db/a/blob_%2F%C3%A9?rev=\(revision)"
        #expect(try client.send("PUT", path, bytes: Array("news".utf8)).status == 201)
        let edited = try client.send("GET", "/db/a").json
        #expect(edited["\u{E9}"]?["digest"] == .string(digest("news")))
        #expect(edited["e\u{301}"]?["digest"] == .string(digest("EVIL")))
    }

    @Test func `a later revision does not take over a content with a wrong digest`() throws {
        let client = try RouterClient.withDatabase()
        let good = MobileDigest.of(Array("good".utf8))
        let lie: JSONValue = [
            "photo": Self.blob(good),
            "_attachments": ["blob_/photo": ["content_type": "text/plain", "data": "RVZJTA=="]],
        ]
        let stored = try client.send("PUT", "/db/lie", lie).json["rev"]?.string ?? ""
        let message = BLIPMessage(
            properties: ["Profile": "rev", "id": "lie", "rev": "2-ab", "history": stored],
            body: JSONValue.object(JSONObject([("photo", Self.blob(good))])).utf8)
        let database = try client.server.state.databases.open("db")
        let revision = try PushedRevision(message, in: database, collection: 0, limit: 1 << 20)
        #expect(revision.missing.map(\.digest) == [good])
    }
}
