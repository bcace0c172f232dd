internal import SettleCore
internal import SettlePlatform

/// Where Settle reports what happens: entries for a log, and intervals for measuring.
///
///     var options = DatabaseOptions()
///     options.log = SettleLog(from: .info) { print($0) }
///
/// An entry never has passwords, cookies or tokens: credentials in URLs are removed before a handler gets it. Ids of documents
/// and addresses of servers are in it. A handler may be called by any thread, also by several at a time, and should return at
/// once.
public struct SettleLog: Sendable {
    /// How much an entry matters.
    public enum Level: Int, Sendable, CaseIterable, Comparable, CustomStringConvertible {
        /// Details for those who look for an error.
        case debug
        /// What happens in normal work, such as the opening of a database.
        case info
        /// Something that is rare, and no error.
        case notice
        /// Something that needs attention: a call did its work, or will be repeated.
        case warning
        /// Work that failed and is not repeated.
        case error

        /// Orders levels by how much they matter.
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
        /// How much it matters.
        public let level: Level
        /// The subsystem that it comes from.
        public let subsystem: Subsystem
        /// The message: what happened, in one sentence.
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

        /// The part of Settle that it belongs to.
        public var subsystem: Subsystem {
            switch self {
            case .open, .write: .database
            case .query: .query
            case .replication: .replication
            }
        }
    }

    /// Called when an interval begins; returns what is called when it has ended, with more about it.
    public typealias Measuring = @Sendable (Interval) -> @Sendable (_ metadata: [String: String]) -> Void

    /// The lowest level of entries that the handler gets.
    public let level: Level
    private let write: @Sendable (Entry) -> Void
    private let measuring: Measuring?

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The lowest level of entries; `warning` by default.
    ///   - measuring: Called when an interval begins. Without it nothing is measured, at no cost.
    ///   - write: Called with each entry.
    public init(
        from level: Level = .warning, measuring: Measuring? = nil, _ write: @escaping @Sendable (Entry) -> Void
    ) {
        (self.level, self.measuring, self.write) = (level, measuring, write)
    }

    /// A log without entries and intervals.
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

    /// Passes both entries and intervals to another log as well.
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

    /// Writes an entry, if the handler takes its level.
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

    /// Measures a closure, if somebody asked for intervals.
    package func measure<Result>(
        _ interval: Interval, _ metadata: @autoclosure () -> [String: String] = [:], _ body: () throws -> Result
    ) rethrows -> Result {
        guard let end = measuring?(interval) else { return try body() }
        defer { end(metadata()) }
        return try body()
    }

    /// Measures an asynchronous closure, if somebody asked for intervals.
    package func measure<Result>(
        _ interval: Interval, _ metadata: @autoclosure () -> [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let end = measuring?(interval) else { return try await body() }
        defer { end(metadata()) }
        return try await body()
    }
}
