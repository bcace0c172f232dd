internal import SettleCore
internal import SettleHTTP
internal import SettleMobile

#if canImport(CCurl)
/// The client's end of a WebSocket on this system.
typealias WebSocketClient = CurlWebSocket
#else
/// The client's end of a WebSocket on this system.
typealias WebSocketClient = StreamTaskWebSocket
#endif

extension HTTPRequest {
    /// The head of the request that opens a WebSocket.
    func webSocketHead(_ options: TransportOptions, key: String) -> [UInt8] {
        let path = url.path + (url.query.map { "?\($0)" } ?? "")
        let fields = headers.fields + [(name: "User-Agent", value: options.userAgent)]
        return WebSocketHandshake.request(path, host: url.authority, key: key, headers: fields)
    }
}

extension CouchDBError {
    /// The error for a response that does not open a WebSocket.
    init(_ answer: WebSocketHandshake.Answer, to request: HTTPRequest) {
        let json = try? JSONValue(utf8: answer.rest)
        let isOther = answer.status < 300
        self.init(
            status: isOther ? 404 : answer.status, error: json?["error"]?.string ?? "",
            reason: isOther
                ? "the address has no database of Couchbase Mobile's protocol"
                : String((json?["reason"]?.string ?? "").prefix(1000)),
            method: "GET", path: request.url.path)
    }
}
