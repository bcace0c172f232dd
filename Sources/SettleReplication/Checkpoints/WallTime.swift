internal import SettlePlatform

/// A time to the second, in UTC, in the two spellings that CouchDB has: in logs of replications that of HTTP,
/// `Sun, 06 Nov 1994 08:49:37 GMT`, and in states of replications that of ISO 8601, `1994-11-06T08:49:37Z`.
package struct WallTime: Sendable {
    /// Seconds since 1970.
    package let seconds: Int

    package init(seconds: Int) { self.seconds = seconds }

    /// The present time.
    package static func now() -> WallTime { WallTime(seconds: time(nil)) }

    /// The time in the format of HTTP's dates.
    package var http: String {
        let (year, month, day) = Self.date(days)
        let weekday = Self.weekdays[((days % 7) + 11) % 7]
        return "\(weekday), \(Self.twoDigits(day)) \(Self.months[month - 1]) \(year) \(clock) GMT"
    }

    /// The time in the format of ISO 8601.
    package var iso8601: String {
        let (year, month, day) = Self.date(days)
        let years = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
        return "\(years)-\(Self.twoDigits(month))-\(Self.twoDigits(day))T\(clock)Z"
    }

    private var days: Int { Int((Double(seconds) / 86_400).rounded(.down)) }

    private var clock: String {
        let rest = seconds - days * 86_400
        return [rest / 3600, rest / 60 % 60, rest % 60].map(Self.twoDigits).joined(separator: ":")
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The date of a day since 1970, in years that begin in March, so that the leap day is the last.
    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
