#if canImport(os)
internal import os

extension SettleLog {
    /// The log of Apple's systems, which Console shows, and the intervals as signposts, which Instruments shows.
    ///
    ///     options.log = .system("com.example.groceries")
    ///
    /// - Parameters:
    ///   - subsystem: The app, by its bundle identifier. Settle's own subsystems are the categories.
    ///   - level: The lowest level of entries; `notice` by default.
    ///   - isPublic: Whether messages are readable in the logs of a device that is not being debugged. They contain
    ///     ids of documents; `false` by default.
    /// - Returns: The log.
    public static func system(
        _ subsystem: String, from level: Level = .notice, isPublic: Bool = false
    ) -> SettleLog {
        let write: @Sendable (Entry) -> Void = { entry in
            let logger = Logger(subsystem: subsystem, category: entry.subsystem.rawValue)
            if isPublic {
                logger.log(level: entry.level.ofSystem, "\(entry.text, privacy: .public)")
            } else {
                logger.log(level: entry.level.ofSystem, "\(entry.text, privacy: .private)")
            }
        }
        return SettleLog(from: level, measuring: { signpost(subsystem, $0) }, write)
    }

    private static func signpost(
        _ subsystem: String, _ interval: Interval
    ) -> @Sendable (_ metadata: [String: String]) -> Void {
        let category = interval.subsystem.rawValue
        let begun = OSLog(subsystem: subsystem, category: category)
        let id = OSSignpostID(log: begun)
        os_signpost(.begin, log: begun, name: interval.signpostName, signpostID: id)
        return { metadata in
            let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
            os_signpost(
                .end, log: OSLog(subsystem: subsystem, category: category), name: interval.signpostName,
                signpostID: id, "%{private}s", details)
        }
    }
}

extension SettleLog.Entry {
    /// The entry without its level and subsystem, which the system shows separately.
    fileprivate var text: String {
        let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return message + (details.isEmpty ? "" : " [\(details.joined(separator: ", "))]")
    }
}

extension SettleLog.Level {
    /// The nearest level of the system.
    fileprivate var ofSystem: OSLogType {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice, .warning: .default
        case .error: .error
        }
    }
}

extension SettleLog.Interval {
    /// The name that Instruments shows.
    fileprivate var signpostName: StaticString {
        switch self {
        case .open: "open"
        case .write: "write"
        case .query: "query"
        case .replication: "replication"
        }
    }
}
#endif
