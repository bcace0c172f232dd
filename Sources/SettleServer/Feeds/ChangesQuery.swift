internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

/// The parameters of a changes request.
struct ChangesQuery: Sendable {
    /// The kind of feed.
    enum Feed: String, Sendable {
        /// All changes, as one JSON text.
        case normal
        /// All changes; if nothing has changed, the feed waits for one change.
        case longpoll
        /// One line per change, endlessly.
        case continuous
        /// Server-sent events, endlessly.
        case eventsource
    }

    /// The subject of the changes.
    enum Subject: Sendable {
        case documents
        case databases
    }

    var subject = Subject.documents
    var feed = Feed.normal
    var since = "0"
    var limit: Int?
    var isDescending = false
    var hasAllLeaves = false
    var hasDocuments = false
    /// The representation of included documents.
    var documents = DocumentOptions()
    /// The interval of heartbeats while there are no changes, in milliseconds.
    var heartbeat: Int?
    /// The time without a change after which a feed ends, in milliseconds.
    var timeout: Int?
    var filter: String?

    /// The default of the timeout and the heartbeat, in milliseconds.
    static let defaultTimeout = 60_000

    /// An upper bound of times, in milliseconds, so that their sums don't overflow.
    private static let longest = 1 << 40

    /// Reads the query.
    init(_ context: RequestContext) throws {
        documents.keepsNumbers = context.request.keepsNumbers
        for (name, value) in context.query.items { try parse(name.lowercased(), value) }
        if feed == .eventsource, let last = context.request.headers["Last-Event-ID"] { since = last }
    }

    /// The same query for the log of database updates, which has no documents to include.
    var ofDatabases: ChangesQuery {
        var query = self
        (query.subject, query.hasDocuments, query.hasAllLeaves) = (.databases, false, false)
        return query
    }

    private mutating func parse(_ name: String, _ value: String) throws {
        switch (name, value) {
        case ("feed", "live"): feed = .continuous
        case ("feed", _):
            guard let known = Feed(rawValue: value) else {
                throw HTTPError.badRequest(
                    "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
            }
            feed = known
        case ("descending", "true"): isDescending = true
        case ("since", _), ("last-event-id", _): since = value
        case ("limit", _): limit = try Self.number(value, "limit")
        case ("style", "all_docs"): hasAllLeaves = true
        case ("style", "main_only"): hasAllLeaves = false
        case ("style", _): throw HTTPError.badRequest("Invalid style: \(value)")
        case ("heartbeat", "true"): heartbeat = Self.defaultTimeout
        case ("heartbeat", _): heartbeat = try Self.heartbeat(value)
        case ("timeout", _): timeout = try Self.number(value, "timeout")
        case ("include_docs", "true"): hasDocuments = true
        case ("conflicts", "true"): documents.hasConflicts = true
        case ("attachments", "true"): documents.hasAttachments = true
        case ("att_encoding_info", "true"): documents.hasEncodingInfo = true
        case ("filter", _): filter = value
        case ("seq_interval", _):
            guard let interval = Int(value), interval > 0 else { throw HTTPError.badRequest("invalid_seq_interval") }
        default: break
        }
    }

    private static func number(_ text: String, _ name: String) throws -> Int {
        guard let number = Int(text) else {
            throw HTTPError.badRequest("The \(name) parameter should be a non-negative integer")
        }
        guard number >= 0 else { throw HTTPError.badRequest("The \(name) value should be a non-negative integer") }
        return number
    }

    private static func heartbeat(_ text: String) throws -> Int {
        guard let number = Int(text) else {
            throw HTTPError.badRequest(
                "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).")
        }
        guard number > 0 else {
            throw HTTPError.badRequest("The heartbeat value should be a positive integer (in milliseconds).")
        }
        return min(number, longest)
    }
}
