/// A time in UTC, in the spellings of CouchDB and HTTP.
///
/// | Property | Example | Where it stands |
/// |---|---|---|
/// | ``http`` | `Sun, 06 Nov 1994 08:49:37 GMT` | headers, logs of replications |
/// | ``cookie`` | `Sun, 06-Nov-1994 08:49:37 GMT` | the expiry of cookies |
/// | ``iso8601`` | `1994-11-06T08:49:37Z` | states of replications |
/// | ``precise`` | `1994-11-06T08:49:37.250Z` | logs of the server, dates in documents |
package struct WallTime: Sendable {
    /// Seconds since 1970.
    package let seconds: Int
    /// Milliseconds in addition, from 0 to 999.
    package let milliseconds: Int

    /// Creates a time.
    ///
    /// - Parameters:
    ///   - seconds: Seconds since 1970; negative for earlier times.
    ///   - milliseconds: Milliseconds in addition, from 0 to 999; 0 by default.
    package init(seconds: Int, milliseconds: Int = 0) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// Creates a time in the years 0 to 9999. Its text has a fixed length, so texts sort like times.
    ///
    /// - Parameter milliseconds: Milliseconds since 1970.
    package init?(millisecondsOfFourDigitYear milliseconds: Int) {
        guard -62_167_219_200_000...253_402_300_799_999 ~= milliseconds else { return nil }
        let past = (milliseconds % 1000 + 1000) % 1000
        self.init(seconds: (milliseconds - past) / 1000, milliseconds: past)
    }

    /// The current time.
    package static func now() -> WallTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
    }

    /// The time in the form of HTTP headers (RFC 9110, section 5.6.7).
    package var http: String { named(separator: " ") }

    /// The time in the form of a cookie's expiry.
    package var cookie: String { named(separator: "-") }

    /// The time in ISO 8601.
    package var iso8601: String { "\(date)T\(clock)Z" }

    /// The time in ISO 8601 with milliseconds.
    package var precise: String { "\(date)T\(clock).\(Self.digits(milliseconds, 3))Z" }

    /// The date, like `1994-11-06`.
    package var date: String {
        let parts = parts
        return [(Int(parts.tm_year) + 1900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2)]
            .map(Self.digits).joined(separator: "-")
    }

    /// The time of day, like `08:49:37`.
    package var clock: String {
        let parts = parts
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.digits(Int($0), 2) }.joined(separator: ":")
    }

    private var parts: tm {
        var (seconds, parts) = (time_t(seconds), tm())
        gmtime_r(&seconds, &parts)
        return parts
    }

    private func named(separator: String) -> String {
        let parts = parts
        let day = [
            Self.digits(Int(parts.tm_mday), 2), Self.months[Int(parts.tm_mon)], "\(Int(parts.tm_year) + 1900)",
        ]
        return "\(Self.weekdays[Int(parts.tm_wday)]), \(day.joined(separator: separator)) \(clock) GMT"
    }

    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
}

// MARK: - HTTPDate

/// Dates of HTTP headers (RFC 9110, section 5.6.7), in all three spellings, and dates of cookies.
package enum HTTPDate {
    /// Parses a date.
    ///
    /// - Returns: Seconds since 1970; `nil` for invalid input.
    package static func seconds(of text: some StringProtocol) -> Double? {
        var (day, month, year) = (Int?.none, Int?.none, Int?.none)
        var time: [Int] = []
        for word in text.lowercased().split(whereSeparator: { " ,-".contains($0) }) {
            if word.contains(":") {
                time = word.split(separator: ":").compactMap { Int($0) }
            } else if let number = Int(word) {
                if day == nil, word.count <= 2 { day = number } else { year = number }
            } else if let index = WallTime.months.firstIndex(where: { $0.lowercased() == word.prefix(3) }) {
                month = index
            }
        }
        guard let day, let month, var year, time.count == 3, 1...31 ~= day, 0...9999 ~= year, 0...23 ~= time[0],
            0...59 ~= time[1], 0...60 ~= time[2]
        else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(time[0]), Int32(time[1]), Int32(time[2]))
        return Double(timegm(&parts))
    }
}

// MARK: - Seconds

extension Duration {
    /// The seconds, with their fraction.
    package var inSeconds: Double { self / .seconds(1) }

    /// The same duration, of at most a century, so that a task can sleep for it and arithmetic can't overflow.
    package var bounded: Duration { Swift.min(Swift.max(self, .seconds(-3_155_760_000)), .seconds(3_155_760_000)) }

    /// The whole seconds, from 0 to a maximum that arithmetic can't overflow.
    package var wholeSeconds: Int { Int(Swift.min(Swift.max(self, .zero), .seconds(1 << 40)).components.seconds) }

    /// The whole milliseconds, from 0 to a maximum that arithmetic can't overflow.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = Swift.min(Swift.max(self, .zero), .seconds(1 << 40)).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
