package import SettleCore
internal import SettlePlatform

/// A complete response of a CouchDB server.
package struct CouchDBAnswer: Sendable {
    /// The status, below 400.
    package let status: Int
    /// The headers.
    package let headers: TransportHeaders
    /// The body; `null` for an answer without a body.
    package let json: JSONValue

    /// The server's time when it responded, in seconds since 1970; `nil` if it did not send one.
    package var date: Double? { headers["Date"].flatMap { HTTPDate.seconds(of: $0) } }
}
