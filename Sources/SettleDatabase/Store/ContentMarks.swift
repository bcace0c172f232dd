internal import SettleCore

/// The newest content token at the times of past compactions, which gives a minimum age for every separately stored
/// content.
///
///     [[1700000000000, 120], [1700086400000, 155]]         milliseconds since 1970, and the newest token then
struct ContentMarks {
    /// The setting with the marks.
    static let setting = "content_marks"
    private static let most = 32

    private var marks: [(time: Int64, token: UInt64)]

    /// Reads marks; an empty list for malformed text.
    init(_ text: String?) {
        let list = text.flatMap { try? JSONValue(parsing: $0) }?.array ?? []
        marks = list.compactMap { mark in
            guard let time = mark[0]?.int, let token = mark[1]?.int.flatMap({ UInt64(exactly: $0) }) else { return nil }
            return (Int64(time), token)
        }
    }

    var text: String {
        JSONValue.array(marks.map { [.number(JSONNumber($0.time)), .number(JSONNumber($0.token))] }).description
    }

    /// The newest token at a time; 0 if unknown.
    func newest(at time: Int64) -> UInt64 { marks.last { $0.time <= time }?.token ?? 0 }

    /// Records the newest token, and drops marks that are no longer needed.
    ///
    /// - Parameters:
    ///   - token: The newest token.
    ///   - now: The current time.
    ///   - age: The maximum age of interest, in milliseconds. Marks are at least a fraction of it apart.
    mutating func note(_ token: UInt64, at now: Int64, for age: Int64) {
        // A clock that went back invalidates its earlier times.
        marks.removeAll { $0.time > now }
        if let old = marks.lastIndex(where: { $0.time <= now - age }) { marks.removeSubrange(..<old) }
        if let last = marks.last, now - last.time < age / Int64(Self.most) { return }
        marks.append((now, token))
    }
}

extension Database {
    /// The newest token of a content that was stored separately for an age; records the current one.
    func newestOldContent(for age: Duration) throws -> UInt64 {
        let (seconds, attoseconds) = age.components
        let (whole, isPast) = seconds.multipliedReportingOverflow(by: 1000)
        let milliseconds = isPast ? Int64.max / 2 : max(0, whole + attoseconds / 1_000_000_000_000_000)
        let now = options.now()
        return try engine.commit { writer in
            var marks = ContentMarks(try writer.setting(ContentMarks.setting))
            let newest = marks.newest(at: now - milliseconds)
            let kept = try writer.contentTokens(after: 0, descending: true, limit: 1).first ?? 0
            let token = max(kept, try writer.setting(BodyToken.floorSetting).flatMap { UInt64($0) } ?? 0)
            marks.note(token, at: now, for: milliseconds)
            try writer.setSetting(ContentMarks.setting, to: marks.text)
            try writer.setSetting(BodyToken.floorSetting, to: String(token))
            return newest
        }
    }
}
