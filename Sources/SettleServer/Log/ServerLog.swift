internal import SettleCore
internal import SettleDatabase
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

    /// Opens the logs.
    ///
    /// - Parameters:
    ///   - format: The format of lines.
    ///   - events: The destination of starts, stops and warnings; by default none.
    ///   - requests: The destination of requests; by default none.
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

    /// Whether requests are logged.
    var takesRequests: Bool { requests != nil }

    func request(_ record: RequestRecord) {
        guard let requests else { return }
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
        requests.write(LogLine(fields, bare: 8).bytes(format))
    }

    private func write(_ level: String, _ event: String, _ details: [(String, String)]) {
        // If the event has the same name as the level, a text log has the word once.
        let names: [(String, JSONValue)] = [("level", .string(level)), ("event", .string(event))]
        let isSaidOnce = format == .text && level == event
        let fields: [(name: String, value: JSONValue)] =
            (isSaidOnce ? [names[0]] : names)
            + details.map { ($0.0, .string(URLRedaction.text($0.1))) }
        events?.write(LogLine(fields, bare: isSaidOnce ? 1 : 2).bytes(format))
    }
}

/// The format of a server's logs.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Words separated by blanks, for people.
    case text
    /// A JSON object per line, for programs.
    case json
}
