/// How a ``CouchDBPeer`` asks its server.
public struct CouchDBPeerOptions: Sendable {
    /// How many bytes of documents are sent in one request, where one document does not have more; 4 MiB unless set.
    public var requestBytes = 4 << 20
    /// How large an attachment may be, in bytes, that is fetched and sent together with others; 64 KiB unless set. Larger
    /// ones are streamed.
    public var inlineAttachmentBytes: Int64 = 64 << 10
    /// What is sent with each request to the server, beside what the protocol needs; nothing unless set. Of a name that both have,
    /// this one counts.
    public var headers = HTTPClientHeaders()
    /// How many requests about single documents may be on their way at the same time; 4 unless set.
    public var requestsAtOnce = 4
    /// The most bytes one revision may have to be fetched, its attachments apart; 64 MiB unless set.
    public var largestRevision = 64 << 20

    /// Makes options with the defaults.
    public init() {}
}
