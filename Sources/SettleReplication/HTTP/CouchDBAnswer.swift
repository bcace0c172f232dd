public import RevisionTree
internal import SettlePlatform

/// An answer of a CouchDB, whole.
public struct CouchDBAnswer: Sendable {
    /// The status, below 400.
    public let status: Int
    /// The headers.
    public let headers: HTTPClientHeaders
    /// The body; `null` when there is none.
    public let json: JSON

    /// The time by the server's clock when it answered, in seconds since 1970; `nil` when it does not tell.
    public var date: Double? { headers["Date"].flatMap { HTTPDate.seconds(of: $0) } }
}
