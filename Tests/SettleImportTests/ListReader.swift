import Foundation
import Settle
import SettleCore
import SettleCrypto

@testable import SettleImport

/// A reader of documents at hand: the smallest product whose databases can be imported.
final class ListReader: ForeignReader {
    let kind = ForeignDatabase.Kind.couchbase1
    let product = "List 1.0"
    var identity: String? = "list-1"
    private(set) var leftOut = ["2 views"]
    var collections = [defaultCollection]
    var documents: [ForeignDocument] = []
    var locals: [(DocumentID, DocumentBody)] = []
    var pushes = PushRecord.unknown("List 1.0 does not say what was pushed")
    /// The local documents that can't be read.
    var unreadableLocals: [String] = []
    /// The sequences after which documents were read.
    private(set) var starts: [UInt64] = []

    func count(in collection: String) throws -> Int { documents.count }

    func pushRecord(to server: URL?) throws -> PushRecord { pushes }

    func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        starts.append(sequence)
        for document in documents where document.sequence > sequence { try body(document) }
    }

    func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {
        for (id, local) in locals { try body(id, local) }
        leftOut += unreadableLocals
    }

    func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .bytes(let bytes) = attachment.place else { throw ForeignFileError(.missing, "the blob is missing") }
        for start in stride(from: 0, to: bytes.count, by: 7) {
            try bytes[start..<min(start + 7, bytes.count)].withUnsafeBytes(body)
        }
    }

    /// The database that an import takes.
    var database: ForeignDatabase { ForeignDatabase(self) }

    /// A leaf with its history, oldest first.
    static func leaf(
        _ id: DocumentID, _ path: String..., body: DocumentBody = .empty, isDeleted: Bool = false,
        attachments: [ForeignAttachment] = []
    ) throws -> Revision<ForeignAttachment> {
        let revisions = try path.reversed().map { try RevisionID(validating: $0) }
        let history = try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
        return Revision(id: id, history: history, isDeleted: isDeleted, body: body, attachments: attachments)
    }

    static func attachment(
        _ name: String, _ bytes: [UInt8], digest: ForeignDigest? = nil, place: ForeignAttachment.Place? = nil
    ) -> ForeignAttachment {
        ForeignAttachment(
            name: name, contentType: "text/plain", length: Int64(bytes.count), revpos: 1,
            digest: digest ?? .sha1(SHA1.hash(bytes)), place: place ?? .bytes(bytes))
    }
}
