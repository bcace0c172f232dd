internal import SettleDatabase
internal import SettlePlatform

/// The digests of contents that were read, so that a large content is not read each time its document is sent.
final class ContentDigests: Sendable {
    private struct Key: Hashable {
        let md5: [UInt8]
        let length: Int64
        let isCompressed: Bool

        init(_ attachment: DocumentAttachment) {
            (md5, length) = (attachment.digest.md5, attachment.length)
            isCompressed = attachment.encoding == .gzip
        }
    }

    /// About 2 MiB.
    private static let most = 10_000

    private let known = Guarded<[Key: String]>([:])

    /// The digest of an attachment's content; `nil` if it is not known.
    subscript(attachment: DocumentAttachment) -> String? {
        get { known.withLock { $0[Key(attachment)] } }
        set {
            known.withLock { known in
                if known.count >= Self.most { known = [:] }
                known[Key(attachment)] = newValue
            }
        }
    }
}
