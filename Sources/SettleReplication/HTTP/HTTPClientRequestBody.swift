/// What a request sends.
public enum HTTPClientRequestBody: Sendable {
    /// Makes the next piece of a body, and `nil` behind the last.
    public typealias Producer = @Sendable () async throws -> [UInt8]?

    /// Nothing.
    case none
    /// Bytes.
    case bytes([UInt8])
    /// Pieces that are made while they are sent, at the pace of the connection.
    ///
    /// A piece is asked for when the one before is on its way, one at a time; a producer that waits holds no thread. `open`
    /// is called once, and again only when the body has to be sent from its beginning once more.
    ///
    /// - Parameters:
    ///   - length: How many bytes there will be, or `nil` when nobody knows: then they are sent in chunks.
    ///   - open: Begins the body.
    case stream(length: Int64?, open: @Sendable () -> Producer)

    /// How many bytes there will be; `nil` when nobody knows.
    var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let length, _): length
        }
    }

    /// Whether this is ``none``.
    var isNone: Bool { if case .none = self { true } else { false } }
}
