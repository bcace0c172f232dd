/// The body of a request.
public enum HTTPClientRequestBody: Sendable {
    /// Makes the next piece of a body, and `nil` at the end.
    public typealias Producer = @Sendable () async throws -> [UInt8]?

    /// No body.
    case none
    /// Bytes.
    case bytes([UInt8])
    /// Pieces that are produced while they are sent, at the pace of the connection.
    ///
    /// A piece is requested after the previous one was sent, one at a time; a waiting producer blocks no thread. `open`
    /// is called once, and again only if the body has to be sent again from the start.
    ///
    /// - Parameters:
    ///   - length: How many bytes there are, or `nil` if unknown: then the body is sent in chunks.
    ///   - open: Starts the body.
    case stream(length: Int64?, open: @Sendable () -> Producer)

    /// How many bytes there are; `nil` if unknown.
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
