internal import SettleDatabase

/// The bytes around the rows of a feed.
struct FeedFraming: Sendable {
    private let feed: ChangesQuery.Feed
    private let subject: ChangesQuery.Subject

    init(_ query: ChangesQuery) { (feed, subject) = (query.feed, query.subject) }

    /// Whether the answer is one JSON text.
    var isOneText: Bool { feed == .normal || feed == .longpoll }

    /// The bytes before all rows.
    var head: [UInt8] { isOneText ? Array("{\"results\":[\n".utf8) : [] }

    /// The bytes between two rows.
    var separator: [UInt8] { isOneText ? Array(",\r\n".utf8) : [] }

    /// The heartbeat.
    var sign: [UInt8] { Array((feed == .eventsource ? "event: heartbeat\ndata: \n\n" : "\n").utf8) }

    /// Appends a row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - sequence: Its position as text.
    ///   - isFirst: Whether no row precedes it.
    ///   - text: What it is appended to.
    func append(_ row: WireText, _ sequence: String, isFirst: Bool, to text: inout WireText) {
        switch feed {
        case .normal, .longpoll:
            if !isFirst { text += separator }
            text += row
        case .continuous:
            text += row
            text += "\n".utf8
        case .eventsource:
            text += "data: ".utf8
            text += row
            text += "\nid: \"\(sequence)\"\n\n".utf8
        }
    }

    /// The bytes after all rows.
    ///
    /// - Parameters:
    ///   - last: The position of the feed as text.
    ///   - pending: How many changes follow that position.
    /// - Returns: The bytes.
    func tail(_ last: String, pending: Int) -> [UInt8] {
        let rest = subject == .documents ? ",\"pending\":\(pending)}\n" : "}\n"
        return switch feed {
        case .normal, .longpoll: Array("\n],\n\"last_seq\":\"\(last)\"\(rest)".utf8)
        case .continuous: Array("{\"last_seq\":\"\(last)\"\(rest)".utf8)
        case .eventsource: []
        }
    }
}
