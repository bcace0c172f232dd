internal import SettleCore

/// How many contents had been kept apart at what times, as compactions have noted it: so that it is known how old each is
/// at least.
///
///     [[1700000000000, 120], [1700086400000, 155]]         milliseconds since 1970, and the newest token then
struct ContentMarks {
    /// Under what the marks are kept.
    static let setting = "content_marks"
    /// Under what the token is kept beyond which new ones begin, so that none stands for two contents.
    static let floorSetting = "content_floor"
    private static let most = 32

    private var marks: [(time: Int64, token: UInt64)]

    /// Reads marks; returns an empty list for bytes that hold no marks.
    init(_ text: String?) {
        let list = text.flatMap { try? JSON(parsing: $0) }?.array ?? []
        marks = list.compactMap { mark in
            guard let time = mark[0]?.int, let token = mark[1]?.int.flatMap({ UInt64(exactly: $0) }) else { return nil }
            return (Int64(time), token)
        }
    }

    var text: String {
        JSON.array(marks.map { [.number(JSONNumber($0.time)), .number(JSONNumber($0.token))] }).description
    }

    /// The newest token that was there at a time; 0 when nobody knows.
    func newest(at time: Int64) -> UInt64 { marks.last { $0.time <= time }?.token ?? 0 }

    /// Notes which token is the newest now, and forgets marks that are not asked about any more.
    ///
    /// - Parameters:
    ///   - token: The newest token.
    ///   - now: The time.
    ///   - age: How far back is asked, in milliseconds. Marks stand at least a fraction of that apart.
    mutating func note(_ token: UInt64, at now: Int64, for age: Int64) {
        // A clock that went back makes what it said before worthless.
        marks.removeAll { $0.time > now }
        if let old = marks.lastIndex(where: { $0.time <= now - age }) { marks.removeSubrange(..<old) }
        if let last = marks.last, now - last.time < age / Int64(Self.most) { return }
        marks.append((now, token))
    }
}

extension Database {
    /// The newest token of a content that has been kept apart for an age, and takes note of the newest one now.
    func newestOldContent(for age: Duration) throws -> UInt64 {
        let (seconds, attoseconds) = age.components
        let (whole, isPast) = seconds.multipliedReportingOverflow(by: 1000)
        let milliseconds = isPast ? Int64.max / 2 : max(0, whole + attoseconds / 1_000_000_000_000_000)
        let now = options.now()
        return try engine.write { writer in
            var marks = ContentMarks(try writer.setting(ContentMarks.setting))
            let newest = marks.newest(at: now - milliseconds)
            let token = try writer.newestContentToken()
            marks.note(token, at: now, for: milliseconds)
            try writer.setSetting(ContentMarks.setting, to: marks.text)
            try writer.setSetting(ContentMarks.floorSetting, to: String(token))
            return newest
        }
    }
}
