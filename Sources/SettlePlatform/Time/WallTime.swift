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
    /// Milliseconds past them, from 0 to 999.
    package let milliseconds: Int

    /// Makes a time.
    ///
    /// - Parameters:
    ///   - seconds: Seconds since 1970; negative ones are before.
    ///   - milliseconds: Milliseconds past them, from 0 to 999; 0 by default.
    package init(seconds: Int, milliseconds: Int = 0) {
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// Makes a time of the years 0 to 9999, whose text has one length and so the order of time.
    ///
    /// - Parameter milliseconds: Milliseconds since 1970.
    package init?(millisecondsOfFourDigitYear milliseconds: Int) {
        guard -62_167_219_200_000...253_402_300_799_999 ~= milliseconds else { return nil }
        let past = (milliseconds % 1000 + 1000) % 1000
        self.init(seconds: (milliseconds - past) / 1000, milliseconds: past)
    }

    /// The present time.
    package static func now() -> WallTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
    }

    /// The time as the headers of HTTP have it (RFC 9110, section 5.6.7).
    package var http: String { named(separator: " ") }

    /// The time as the expiry of a cookie.
    package var cookie: String { named(separator: "-") }

    /// The time in ISO 8601.
    package var iso8601: String { "\(date)T\(clock)Z" }

    /// The time in ISO 8601 with milliseconds.
    package var precise: String { "\(date)T\(clock).\(Self.digits(milliseconds, 3))Z" }

    /// The date, as `1994-11-06`.
    package var date: String {
        let parts = parts
        return [(Int(parts.tm_year) + 1900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2)]
            .map(Self.digits).joined(separator: "-")
    }

    /// The time of the day, as `08:49:37`.
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
