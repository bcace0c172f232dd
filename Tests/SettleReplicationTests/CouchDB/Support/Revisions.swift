import Settle
import SettleCore
import SettleCrypto
import SettleDatabase
import SettlePlatform
import SettleReplication
import Testing

/// A revision for tests: `"3-c 2-b 1-a"` is the path, newest first.
func revision(
    _ id: DocumentID, _ path: String, _ body: DocumentBody = ["v": 1], isDeleted: Bool = false,
    _ attachments: [PeerAttachment] = []
) throws -> PeerRevision {
    let path = path.split(separator: " ").compactMap { RevisionID($0) }
    let history = try RevisionHistory(start: path[0].generation, signatures: path.map(\.signature))
    return PeerRevision(id: id, history: history, isDeleted: isDeleted, body: body, attachments: attachments)
}

func rev(_ text: String) throws -> RevisionID { try RevisionID(validating: text) }

/// An attachment for tests, whose stored bytes are in memory or come from a source.
func attachment(
    _ name: String, _ bytes: [UInt8], type: String = "image/png", revpos: UInt64 = 1,
    encoding: DocumentAttachment.Encoding = .identity, content: PeerAttachment.Content? = nil,
    length: Int64? = nil
) throws -> PeerAttachment {
    let md5 = MD5()
    md5.update(bytes)
    return PeerAttachment(
        name: name, contentType: type, revpos: revpos, digest: try #require(AttachmentDigest(md5: md5.finish())),
        length: length ?? Int64(bytes.count), encodedLength: Int64(bytes.count), encoding: encoding,
        content: content ?? .bytes(bytes))
}

extension CouchDBPeer {
    /// The found revisions, in order; missing ones are left out.
    func found(_ requests: [RevisionRequest], budget: Int = 1 << 30) async throws -> [PeerRevision] {
        try await revisions(requests, budget: budget).compactMap {
            if case .found(let revision) = $0 { revision } else { nil }
        }
    }
}

extension AttachmentSource {
    /// All bytes from an offset on.
    func bytes(from offset: Int64 = 0) async throws -> [UInt8] {
        let all = Guarded<[UInt8]>([])
        try await read(from: offset) { piece in all.withLock { $0 += piece } }
        return all.withLock { $0 }
    }
}

extension StoreOutcome {
    var name: String {
        switch self {
        case .stored: "stored"
        case .known: "known"
        case .refused(let error): "refused \(error.code)"
        case .failed(let error): "failed \(error.code)"
        }
    }

    var error: PeerError? {
        switch self {
        case .stored, .known: nil
        case .refused(let error), .failed(let error): error
        }
    }
}
