/// A request as far as it has been read.
struct ProxyRequest {
    /// Empty for bytes that are no request.
    let method: String
    let path: String
    let keepsConnection: Bool
    /// Whether the client waits for a `100 Continue` before it sends the body.
    let isWaiting: Bool
    /// How the rest is found.
    var body: BodyFraming
    /// What has been read, the head first.
    var held = ByteQueue()

    /// A request that begins with a head; `nil` when its end can't be told.
    init?(_ head: MessageHead) {
        guard let method = head.method, let body = head.requestFraming else { return nil }
        self.method = method
        path = head.first[1]
        keepsConnection = head.keepsConnection
        isWaiting = head.has("expect", "100-continue")
        self.body = body
        held.append(head.bytes)
    }

    /// Bytes that are no request: all that come.
    init() {
        (method, path, keepsConnection, isWaiting, body) = ("", "", false, false, .untilEnd)
    }
}
