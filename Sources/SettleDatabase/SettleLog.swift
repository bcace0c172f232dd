internal import SettleCore
internal import SettlePlatform

/// The log of Settle: it receives entries about events, and intervals for measuring.
///
///     var options = DatabaseOptions()
///     options.log = SettleLog(from: .info) { print($0) }
///
/// An entry never contains passwords, cookies or tokens: credentials in URLs are removed before a handler gets it.
/// It contains ids of documents and addresses of servers. A handler may be called by any thread, also by several at
/// a time, and should return at once.
public struct SettleLog: Sendable {
    /// The importance of an entry.
    public enum Level: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
        /// Details for finding an error.
        case debug
        /// An event of normal operation, such as the opening of a database.
        case info
        /// A rare event that is not an error.
        case notice
        /// A problem that needs attention. The call has done its work, or will be repeated.
        case warning
        /// Work that failed and is not repeated.
        case error

        /// Orders levels by importance.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// The level's name.
        public var description: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .notice: "notice"
            case .warning: "warning"
            case .error: "error"
            }
        }
    }

    /// The part of Settle that an entry comes from.
    public enum Subsystem: String, Sendable, CaseIterable {
        /// Databases, documents, attachments and their storage.
        case database
        /// Conflicts and their policies.
        case conflicts
        /// Queries, views and their indexes.
        case query
        /// Replication, and sessions offline.
        case replication
    }

    /// One entry.
    public struct Entry: Sendable, CustomStringConvertible {
        /// Its importance.
        public let level: Level
        /// The subsystem that it comes from.
        public let subsystem: Subsystem
        /// The message: the event, in one sentence.
        public let message: String
        /// More about it, such as `["database": "notes"]`.
        public let metadata: [String: String]

        /// The entry in one line: `warning replication: the checkpoint was not written [database: notes]`.
        public var description: String {
            let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            return "\(level) \(subsystem.rawValue): \(message)"
                + (details.isEmpty ? "" : " [\(details.joined(separator: ", "))]")
        }
    }

    /// Something that takes time and is measured.
    public enum Interval: String, Sendable, CaseIterable {
        /// Opening a database.
        case open
        /// A write: a save, a batch of them, or a transaction.
        case write
        /// A query, with the update of its index.
        case query
        /// Storing a batch of revisions of a replication at its target.
        case replication

        /// The part of Settle that the interval belongs to.
        public var subsystem: Subsystem {
            switch self {
            case .open, .write: .database
            case .query: .query
            case .replication: .replication
            }
        }
    }

    /// A closure that is called when an interval begins. It returns a closure that is called at the end, with
    /// metadata.
    public typealias Measuring = @Sendable (Interval) -> @Sendable (_ metadata: [String: String]) -> Void

    /// The lowest level of entries that the handler gets.
    public let level: Level
    private let write: @Sendable (Entry) -> Void
    private let measuring: Measuring?

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The lowest level of entries; `warning` by default.
    ///   - measuring: Called when an interval begins; `nil` to measure nothing, at no cost.
    ///   - write: Called with each entry.
    public init(
        from level: Level = .warning, measuring: Measuring? = nil, _ write: @escaping @Sendable (Entry) -> Void
    ) {
        (self.level, self.measuring, self.write) = (level, measuring, write)
    }

    /// A log that ignores entries and intervals.
    public static let none = SettleLog(from: .error) { _ in }

    /// Writes warnings and errors to standard error, each as a line. This is the log of a database by default.
    public static let standardError = standardError(from: .warning)

    /// Writes entries to standard error, each as a line.
    public static func standardError(from level: Level) -> SettleLog {
        SettleLog(from: level) { entry in
            let line = Array((entry.level >= .warning ? "settle: \(entry.message)\n" : "settle: \(entry)\n").utf8)
            _ = SettlePlatform.write(STDERR_FILENO, line, line.count)
        }
    }

    /// Returns a log that also passes its entries and intervals to another log.
    public func and(_ other: SettleLog) -> SettleLog {
        let measurings = [measuring, other.measuring].compactMap(\.self)
        let measuring: Measuring = { interval in
            let ends = measurings.map { $0(interval) }
            return { metadata in for end in ends { end(metadata) } }
        }
        return SettleLog(from: min(level, other.level), measuring: measurings.isEmpty ? nil : measuring) { entry in
            for log in [self, other] where entry.level >= log.level { log.write(entry) }
        }
    }

    /// Writes an entry, if the log accepts its level.
    package func callAsFunction(
        _ level: Level, _ subsystem: Subsystem, _ message: @autoclosure () -> String,
        _ metadata: @autoclosure () -> [String: String] = [:]
    ) {
        guard level >= self.level else { return }
        write(
            Entry(
                level: level, subsystem: subsystem, message: URLRedaction.text(message()),
                metadata: metadata().mapValues(URLRedaction.text)))
    }

    /// Measures a closure, if the log has a handler for intervals.
    package func measure<Result>(
        _ interval: Interval, _ metadata: @autoclosure () -> [String: String] = [:], _ body: () throws -> Result
    ) rethrows -> Result {
        guard let end = measuring?(interval) else { return try body() }
        defer { end(metadata()) }
        return try body()
    }

    /// Measures an asynchronous closure, if the log has a handler for intervals.
    package func measure<Result>(
        _ interval: Interval, _ metadata: @autoclosure () -> [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let end = measuring?(interval) else { return try await body() }
        defer { end(metadata()) }
        return try await body()
    }
}
