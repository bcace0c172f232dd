import SettleCore
import SettleDatabase
import SettleReplication
import Testing

@testable import SettleCommands

/// Documents of a server on their way into an export.
@Suite struct ExportBatchTests {
    private struct Refusal: Error {}

    @Test func `lengths that a server claims are added up without overflow`() throws {
        let digest = try #require(AttachmentDigest("md5-AAAAAAAAAAAAAAAAAAAAAA=="))
        let attachments = ["a", "b"].map { name in
            PeerAttachment(
                name: name, contentType: "text/plain", revpos: 1, digest: digest, length: .max, encodedLength: .max,
                encoding: .identity, content: .bytes([]))
        }
        let leaf = PeerRevision(
            id: "d", history: RevisionHistory(try RevisionID(validating: "1-a")), attachments: attachments)
        let exporter = Exporter(to: try ByteOutput(path: "/dev/null"), options: Exporter.Options())
        let batch = try ExportBatch(exporter) { _ in }
        for _ in 0..<2 {
            #expect(throws: Refusal.self) { try batch.add([leaf]) { _, _, _ in throw Refusal() } }
        }
    }
}
