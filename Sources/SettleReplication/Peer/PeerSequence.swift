public import RevisionTree

/// A position in a peer's changes.
///
/// It is opaque: numbers, strings and arrays have been seen, and it is handed back as it came (SEMANTICS 204). Two are
/// compared for equality alone.
public struct PeerSequence: Sendable, Hashable, CustomStringConvertible {
    /// The position as JSON.
    public let json: JSON

    /// Makes a position of what a peer sent.
    public init(_ json: JSON) { self.json = json }

    /// Before the first change.
    public static let start = PeerSequence(0)

    /// Whether this is the position before the first change, as a number or as CouchDB's string.
    public var isStart: Bool { json == 0 || json == "0" }

    /// The number at the position's front, which CouchDB and Settle count changes by; `nil` where there is none.
    ///
    /// It says nothing of what is before or after on a cluster; a number that became smaller is a sign that the database is
    /// not the one it was.
    public var number: Int64? {
        switch json {
        case .number: json.int.map(Int64.init)
        case .string(let text): Int64(text.prefix { $0 != "-" })
        default: nil
        }
    }

    /// The position as it is written in a URL: a string as it is, anything else as JSON.
    public var description: String { json.string ?? json.description }
}
