/// The part of a request that was read.
struct ProxyRequest {
    /// Empty for bytes that are not a request.
    let method: String
    let path: String
    let keepsConnection: Bool
    /// Whether the client waits for a `100 Continue` before it sends the body.
    let isWaiting: Bool
    /// The framing of the remaining body.
    var body: BodyFraming
    /// The bytes that were read, beginning with the head.
    var held = ByteQueue()

    /// Makes a request from its head; `nil` when its end can't be determined.
    init?(_ head: MessageHead) {
        guard let method = head.method, let body = head.requestFraming else { return nil }
        self.method = method
        path = head.first[1]
        keepsConnection = head.keepsConnection
        isWaiting = head.has("expect", "100-continue")
        self.body = body
        held.append(head.bytes)
    }

    /// Makes a request of bytes that are not HTTP: all that arrive.
    init() {
        (method, path, keepsConnection, isWaiting, body) = ("", "", false, false, .untilEnd)
    }
}
