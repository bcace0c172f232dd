#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A time to the second, in UTC, as CouchDB writes it into states: `2017-04-29T05:01:37Z`.
struct UTCTime: Sendable, CustomStringConvertible {
    /// Seconds since 1970.
    let seconds: Int

    /// The present time.
    static func now() -> UTCTime { UTCTime(seconds: time(nil)) }

    var description: String {
        var (seconds, parts) = (time_t(seconds), tm())
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int = 2) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
        return "\(date)T\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))Z"
    }
}
