public import SettleCore

/// A position in a peer's changes.
///
/// It is opaque: a number, a string or an array, returned to the peer unchanged (SEMANTICS 204). Positions are compared
/// only for equality.
public struct PeerSequence: Sendable, Hashable, CustomStringConvertible {
    /// The position as JSON.
    public let json: JSONValue

    /// Creates a position from a peer's JSON.
    public init(_ json: JSONValue) { self.json = json }

    /// Before the first change.
    public static let start = PeerSequence(0)

    /// Whether this is the position before the first change, in CouchDB's spellings 0 and `"0"`.
    public var isStart: Bool { json == 0 || json == "0" }

    /// The number at the start of the position, by which CouchDB and Settle count changes; `nil` if there is none.
    ///
    /// On a cluster it does not order changes. A number that became smaller shows that the database was replaced.
    public var number: Int64? {
        switch json {
        case .number: json.int.map(Int64.init)
        case .string(let text): Int64(text.prefix { $0 != "-" })
        default: nil
        }
    }

    /// The position as written in a URL: a string unchanged, anything else as JSON.
    public var description: String { json.string ?? json.description }
}
