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
