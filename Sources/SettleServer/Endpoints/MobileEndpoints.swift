internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// Couchbase Lite's replicator: a WebSocket with messages of BLIP.
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
                guard let connection = mobile.take(socket, for: session, limits) else {
                    context.options.log?.warning("a mobile connection can't be taken: the system has no sockets left")
                    return
                }
                session.begin(connection)
            })
    }
}
