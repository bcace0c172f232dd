public import SettleCore
internal import SettlePlatform

/// A complete response of a CouchDB server.
public struct CouchDBAnswer: Sendable {
    /// The status, below 400.
    public let status: Int
    /// The headers.
    public let headers: TransportHeaders
    /// The body; `null` when there is none.
    public let json: JSONValue

    /// The server's time when it responded, in seconds since 1970; `nil` if it did not send one.
    public var date: Double? { headers["Date"].flatMap { HTTPDate.seconds(of: $0) } }
}
