internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// The mobile connections of a server: one thread for their sockets, and a few that handle messages.
final class MobileService: Sendable {
    private let loop = Guarded<SocketLoop?>(nil)
    /// What handles messages.
    let workers = WorkerPool(limit: 8)
    /// The memory of all connections.
    let budget: MobileBudget
    /// The digests of blobs and attachments that were read.
    let digests = ContentDigests()
    /// The documents that are not offered to Couchbase Lite.
    let leftOut = LeftOutDocuments()

    /// - Parameter memory: The memory of all connections, in bytes.
    init(memory: Int) { budget = MobileBudget(limit: memory) }

    deinit { workers.close() }

    /// Takes a connection over, which belongs to its owner then.
    ///
    /// - Returns: The connection; `nil` if the system has no sockets left, and then it is closed.
    func take(_ socket: UpgradedSocket, for owner: any ConnectionOwner, _ limits: BLIPLimits) -> BLIPConnection? {
        let loop = self.loop.withLock { kept -> SocketLoop? in
            kept = kept ?? SocketLoop(budget: budget)
            return kept
        }
        guard let loop else {
            socket.giveBack()
            return nil
        }
        let connection = BLIPConnection(
            isServer: true, limits: limits, handler: { owner.take($0) }, wake: { [weak loop] in loop?.wake() })
        loop.add(socket, connection, owner)
        return connection
    }
}

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
