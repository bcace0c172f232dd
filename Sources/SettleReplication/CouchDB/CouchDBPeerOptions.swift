/// How a ``CouchDBPeer`` sends requests.
public struct CouchDBPeerOptions: Sendable {
    /// How many bytes of documents one request may have, unless a single document has more; 4 MiB unless set.
    public var requestBytes = 4 << 20
    /// Up to how many bytes an attachment is fetched and sent inline, together with others; 64 KiB unless set. Larger
    /// ones are streamed.
    public var inlineAttachmentBytes: Int64 = 64 << 10
    /// Headers sent with each request in addition to those of the protocol; none unless set. If both define a header,
    /// this one is used.
    public var headers = TransportHeaders()
    /// How many requests for single documents may run concurrently; 4 unless set.
    public var requestsAtOnce = 4
    /// How many bytes a fetched revision may have, without its attachments; 64 MiB unless set.
    public var largestRevision = 64 << 20

    /// Creates options with the defaults.
    public init() {}
}
