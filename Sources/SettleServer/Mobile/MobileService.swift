internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleMobile
internal import SettlePlatform

/// The mobile connections of a server: one thread for their sockets, and a few that handle messages.
final class MobileService: Sendable {
    private let loop = Guarded<SocketLoop?>(nil)
    /// The threads that handle messages.
    let workers = WorkerPool(limit: 8)
    /// The memory of all connections.
    let budget: MobileBudget
    /// The digests of blobs and attachments that were read before.
    let digests = ContentDigests()
    /// The documents that are not offered to Couchbase Lite.
    let leftOut = LeftOutDocuments()
    /// The documents whose edits were refused.
    let refused = RefusedProposals()

    /// - Parameter memory: The memory of all connections, in bytes.
    init(memory: Int) { budget = MobileBudget(limit: memory) }

    deinit { workers.close() }

    /// Takes over a socket for a connection of an owner.
    ///
    /// - Returns: The connection. If the system has no sockets left, the result is `nil` and the socket is closed.
    func adopt(_ socket: UpgradedSocket, for owner: any ConnectionOwner, _ limits: BLIPLimits) -> BLIPConnection? {
        let loop = self.loop.withLock { kept -> SocketLoop? in
            kept = kept ?? SocketLoop(budget: budget)
            return kept
        }
        guard let loop else {
            socket.giveBack()
            return nil
        }
        let connection = BLIPConnection(
            isServer: true, limits: limits, handler: { owner.receive($0) }, wake: { [weak loop] in loop?.wake() })
        loop.add(socket, connection, owner)
        return connection
    }
}

/// Caches digests, so that a large content is not read each time its document is sent.
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

    /// The maximum number of entries, about 2 MiB.
    private static let most = 10_000

    private let known = Guarded<[Key: String]>([:])

    /// The digest of an attachment's content; `nil` if it is not cached.
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

// MARK: - MobileEndpoints

/// The endpoint of Couchbase Lite's replicator: a WebSocket with BLIP messages.
enum MobileEndpoints {
    /// `GET /{db}/_blipsync`
    static let connect: Endpoint = .work(\.mobile) { mobile, context in
        let headers = context.request.headers
        func has(_ name: String, _ word: String) -> Bool {
            (headers[name] ?? "").split(separator: ",").contains { part in
                String(part).trimmingBlanks().lowercased() == word
            }
        }
        guard has("Upgrade", "websocket"), has("Connection", "upgrade"), let key = headers["Sec-WebSocket-Key"] else {
            throw HTTPError(426, "upgrade_required", "Couchbase Lite connects to this address by a WebSocket.")
        }
        guard headers["Sec-WebSocket-Version"]?.trimmingBlanks() == "13" else {
            throw HTTPError.badRequest("`Sec-WebSocket-Version` must be 13.")
        }
        guard let name = WebSocketHandshake.choose(among: headers["Sec-WebSocket-Protocol"] ?? "") else {
            throw HTTPError.badRequest(
                "`Sec-WebSocket-Protocol` has none of \(WebSocketHandshake.served.joined(separator: ", "))."
            )
        }
        guard !context.parameter("db").hasPrefix("_") else {
            throw HTTPError.forbidden("Databases of the system are not synchronized with Couchbase Lite.")
        }
        try CrossSiteCheck(crossOrigin: context.live.otherOrigins).checkHandshake(context.request)
        _ = try context.database()
        return HTTPResponse(
            status: 101,
            headers: [
                "Upgrade": "websocket", "Sec-WebSocket-Accept": WebSocketHandshake.accept(key.trimmingBlanks()),
                "Sec-WebSocket-Protocol": name,
            ],
            body: .upgrade { socket in
                var limits = BLIPLimits()
                limits.largestRequest = min(
                    limits.largestMessage, context.largestDocument.adding(clamped: 1 << 20))
                let session = MobileSession(context, workers: mobile.workers, peer: socket.peer)
                guard let connection = mobile.adopt(socket, for: session, limits) else {
                    context.options.log?.warning("a mobile connection can't be taken: the system has no sockets left")
                    return
                }
                session.begin(connection)
            })
    }
}
