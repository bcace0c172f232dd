internal import SettleCore
internal import SettleDatabase

/// What a request wants of a database's changes.
struct ChangesQuery: Sendable {
    /// How the changes come.
    enum Feed: String, Sendable {
        /// All there are, as one JSON text.
        case normal
        /// The same, but when there are none it waits for one.
        case longpoll
        /// A line each, without end.
        case continuous
        /// Server-sent events, without end.
        case eventsource
    }

    /// What the changes are of.
    enum Subject: Sendable {
        /// The documents of a database.
        case documents
        /// The databases of the server.
        case databases
    }

    var subject = Subject.documents
    var feed = Feed.normal
    var since = "0"
    var limit: Int?
    var isDescending = false
    var hasAllLeaves = false
    var hasDocuments = false
    /// What the documents show, where they are wanted.
    var documents = DocumentOptions()
    /// After how many milliseconds of silence a sign of life is sent.
    var heartbeat: Int?
    /// After how many milliseconds without a change a feed ends.
    var timeout: Int?
    var filter: String?

    /// How long a feed waits, and how often it gives a sign of life, when nothing is said, in milliseconds.
    static let defaultTimeout = 60_000

    /// A longer time than any feed lives, in milliseconds, so that no sum of times is too large.
    private static let longest = 1 << 40

    /// Reads the query.
    init(_ context: RequestContext) throws {
        for (name, value) in context.query.items { try take(name.lowercased(), value) }
        if feed == .eventsource, let last = context.request.headers["Last-Event-ID"] { since = last }
    }

    /// The same of the server's databases: of these, there are no documents to show.
    var ofDatabases: ChangesQuery {
        var query = self
        (query.subject, query.hasDocuments, query.hasAllLeaves) = (.databases, false, false)
        return query
    }

    private mutating func take(_ name: String, _ value: String) throws {
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
