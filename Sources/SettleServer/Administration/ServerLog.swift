internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// A server's logs: events in one, a line for each request in another.
///
///     var options = ServerOptions()
///     options.log = try ServerLog(format: .json, events: .descriptor(2), requests: .file("access.log"))
///
/// Separate threads write the lines: a request never waits for them, and lines that arrive faster than they can be written
/// are dropped and counted. Passwords, cookies, tokens and the values of unknown query parameters are never logged.
public final class ServerLog: Sendable {
    private let format: LogFormat
    private let events: LogFile?
    private let requests: LogFile?
    /// The newest lines, which are kept also without files.
    let recent = RecentLog()

    /// A log in memory only.
    init() { (format, events, requests) = (.text, nil, nil) }

    /// Opens the logs.
    ///
    /// - Parameters:
    ///   - format: The format of lines.
    ///   - events: The destination of starts, stops and warnings; `nil`, the default, logs none.
    ///   - requests: The destination of requests; `nil`, the default, logs none.
    /// - Throws: ``DatabaseError`` if a file can't be opened.
    public init(format: LogFormat = .text, events: LogDestination? = nil, requests: LogDestination? = nil) throws {
        self.format = format
        func open(_ destination: LogDestination) throws -> LogFile {
            try LogFile(destination) { count in
                let fields: [(name: String, value: JSONValue)] = [
                    ("level", "warning"), ("event", "dropped"), ("lines", .number(JSONNumber(count))),
                ]
                return LogLine(fields, bare: 2).bytes(format)
            }
        }
        self.events = try events.map(open)
        self.requests = try requests.map(open)
    }

    /// Logs a normal event.
    ///
    /// - Parameters:
    ///   - event: Its name, in one word.
    ///   - details: Further fields.
    public func notice(_ event: String, _ details: KeyValuePairs<String, String> = [:]) {
        write("notice", event, details.map { ($0.key, $0.value) })
    }

    /// Logs a problem that needs attention.
    ///
    /// - Parameters:
    ///   - message: The problem.
    ///   - details: Further fields.
    public func warning(_ message: String, _ details: KeyValuePairs<String, String> = [:]) {
        write("warning", "warning", [("message", message)] + details.map { ($0.key, $0.value) })
    }

    /// Reopens the files, after a log rotation.
    public func reopen() {
        events?.reopen()
        requests?.reopen()
    }

    /// Waits for pending lines, two seconds at most, and closes the files.
    public func close() {
        requests?.close()
        events?.close()
    }

    /// Whether all requests are logged, not only the notable ones in memory.
    var hasRequests: Bool { requests != nil }

    func request(_ record: RequestRecord) {
        let isNotable = record.isNotable
        guard requests != nil || isNotable else { return }
        let (seconds, fraction) = record.duration.components
        let micros = seconds * 1_000_000 + fraction / 1_000_000_000_000
        func text(_ value: String?) -> JSONValue { value.flatMap { $0.isEmpty ? nil : .string($0) } ?? .null }
        var fields: [(name: String, value: JSONValue)] = [
            ("id", text(record.id)), ("remote", text(record.peer)), ("user", text(record.user)),
            ("method", .string(record.method)), ("path", .string(LogRedaction.text(record.target))),
            ("status", record.status.map { .number(JSONNumber($0)) } ?? .null),
            ("bytes", .number(JSONNumber(record.bytes))),
            ("seconds", JSONNumber(Double(micros) / 1_000_000).map(JSONValue.number) ?? .null),
        ]
        if record.isCut { fields.append(("cut", true)) }
        requests?.write(LogLine(fields, bare: 8).bytes(format))
        guard isNotable else { return }
        let level = (record.status ?? 0) >= 500 ? "error" : "warning"
        let names: [(name: String, value: JSONValue)] = [("level", .string(level)), ("event", "request")]
        recent.add(LogLine(names + fields, bare: 2).members, .request)
    }

    private func write(_ level: String, _ event: String, _ details: [(String, String)]) {
        // If the event has the same name as the level, a text log prints the word once.
        let isSaidOnce = format == .text && level == event
        let names: [(name: String, value: JSONValue)] = [("level", .string(level)), ("event", .string(event))]
        let fields = names + details.map { (name: $0.0, value: JSONValue.string(URLRedaction.text($0.1))) }
        recent.add(LogLine(fields, bare: 2).members, event == "script" ? .script : .event)
        guard let events else { return }
        let written = isSaidOnce ? [names[0]] + fields.dropFirst(2) : fields
        events.write(LogLine(written, bare: isSaidOnce ? 1 : 2).bytes(format))
    }
}

/// The format of a server's logs.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Words separated by blanks, for people.
    case text
    /// A JSON object per line, for programs.
    case json
}

// MARK: - LogLine

/// A line of a log: the time, and fields in order.
struct LogLine {
    private let time: String
    private let fields: [(name: String, value: JSONValue)]
    /// The number of leading fields whose names the text form omits.
    private let bare: Int

    init(_ fields: [(name: String, value: JSONValue)], bare: Int) {
        time = WallTime.now().precise
        self.fields = fields
        self.bare = bare
    }

    /// The members of the line in JSON.
    var members: JSONObject {
        JSONObject([("time", JSONValue.string(time))] + fields.map { ($0.name, $0.value) })
    }

    func bytes(_ format: LogFormat) -> [UInt8] {
        switch format {
        case .json: return JSONValue.object(members).utf8 + [UInt8(ascii: "\n")]
        case .text:
            let words = fields.enumerated().map { index, field in
                index < bare ? Self.word(field.value) : "\(field.name)=\(Self.word(field.value))"
            }
            return Array(([time] + words).joined(separator: " ").utf8) + [UInt8(ascii: "\n")]
        }
    }

    /// A value as one word; one with blanks or control characters as a JSON string.
    private static func word(_ value: JSONValue) -> String {
        guard let text = value.string else { return value.isNull ? "-" : value.description }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 32 && $0.value != 34 && $0.value != 92 && !(127...159).contains($0.value)
                && !(0x2028...0x2029).contains($0.value)
        }
        return isPlain && !text.isEmpty && text != "-" ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 34, 92: result += "\\" + String(scalar)
            case 0..<32, 127...159, 0x2028...0x2029:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

// MARK: - LogRedaction

/// Removes possible secrets from a request's first line before it is logged.
enum LogRedaction {
    /// Query parameters with harmless values: numbers, flags, revisions and keywords of the API.
    private static let harmless: Set<String> = [
        "rev", "revs", "revs_info", "open_revs", "atts_since", "attachments", "att_encoding_info", "conflicts",
        "deleted_conflicts", "latest", "local_seq", "meta", "new_edits", "batch", "include_docs", "descending", "limit",
        "skip", "feed", "filter", "heartbeat", "timeout", "since", "last-event-id", "style", "update_seq",
        "seq_interval",
        "inclusive_end", "stable", "stale", "update", "reduce", "group", "group_level", "sorted", "count",
        "ensure_full_commit",
        "q", "n", "view", "basic",
    ]

    /// The path and the query: names and values of other parameters become `*`, and so do credentials in URLs.
    static func text(_ target: RequestTarget) -> String {
        let path = URLRedaction.text(target.rawPath)
        if target.query.items.isEmpty { return path }
        let query = target.query.items.map { name, value in
            guard harmless.contains(name) else { return "*" }
            return value.isEmpty ? name : "\(name)=\(URLRedaction.text(PercentCoding.encode(value, keeping: .couchDB)))"
        }
        return path + "?" + query.joined(separator: "&")
    }
}
