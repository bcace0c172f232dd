import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// What real replicators of Couchbase Lite sent when they pushed to a server, byte for byte: `Tests/Mobile/recorded`.
@Suite(.timeLimit(.minutes(5))) struct RecordedPeerTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Mobile/recorded").standardized

    @Test(arguments: [
        ("litecore-3.2.2", "old", "2-31e526562c0759327eba7483c0f4a8a706849a9d"),
        ("litecore-4.1.0-tree", "tree", "2-ad0b59e51b9d5a6c1de0430a73b9a8517e5c491d"),
        ("litecore-4.1.0-vectors", "vectors", "1-18eb57ac6ba900017f1b0f0a8d0f499daeef0e04f98712fe"),
    ])
    func `twenty documents, an edit and a deletion are stored under the names that the device gave them`(
        file: String, prefix: String, edited: String
    ) async throws {
        let live = try LiveServer()
        try live.server.state.create("rec")
        let database = try live.server.state.databases.open("rec")
        let raw = try RawConnection(port: live.port)
        try raw.write([UInt8](Data(contentsOf: Self.folder.appending(path: file))))
        func counts() throws -> [Int] { [try database.info().documents].flatMap { [$0.live, $0.deleted] } }
        await eventually("all documents are stored") { try counts() == [21, 1] }
        let document = try #require(try database.document(DocumentID(unchecked: "\(prefix)-edited")))
        #expect(document["text"] == "second" && document.revision?.description == edited)
        #expect(try database.tree(of: DocumentID(unchecked: "\(prefix)-gone"))?.isDeleted == true)
        #expect(try database.document(DocumentID(unchecked: "\(prefix)-000019"))?["n"] == 19)
    }
}
