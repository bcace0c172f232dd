/// Whether text is a date, read byte by byte.
enum DateText {
    /// Whether it is a date or a time of RFC 3339, as JSON Schema's formats require.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - hasDate: Whether it has `YYYY-MM-DD`.
    ///   - hasTime: Whether it has `HH:MM:SS`, perhaps with a fraction, and `Z` or `±HH:MM`.
    /// - Returns: Whether it has exactly the requested parts.
    static func isInternet(_ text: String, hasDate: Bool, hasTime: Bool) -> Bool {
        var rest = Array(text.utf8)[...]
        if hasDate, !takeDate(&rest) { return false }
        if hasDate, hasTime, !take("Tt", &rest) { return false }
        guard hasTime else { return rest.isEmpty }
        guard let time = takeTime(&rest, needsSeconds: true), let offset = takeOffset(&rest, needsColon: true),
            rest.isEmpty
        else { return false }
        // A leap second is the last one of a day in UTC.
        return time.second < 60 || (time.minutes - offset + 2 * 1440) % 1440 == 1439
    }

    /// Whether it is an ISO 8601 date in the form that programs write: `2024-02-29`, optionally followed by `T` or a
    /// blank, a time `08:30`, `08:30:06` or `08:30:06.25`, and optionally `Z`, `+01:00`, `+0100` or `+01`.
    static func isISO8601(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard takeDate(&rest) else { return false }
        if rest.isEmpty { return true }
        guard take("Tt ", &rest), let time = takeTime(&rest, needsSeconds: false), time.second < 60 else {
            return false
        }
        return rest.isEmpty || (takeOffset(&rest, needsColon: false) != nil && rest.isEmpty)
    }

    private static func takeDate(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest), take("-", &rest),
            let day = number(2, &rest), 1...12 ~= month
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...days[month - 1] ~= day
    }

    /// The minutes since midnight and the second.
    private static func takeTime(
        _ rest: inout ArraySlice<UInt8>, needsSeconds: Bool
    ) -> (minutes: Int, second: Int)? {
        guard let hour = number(2, &rest), hour < 24, take(":", &rest), let minute = number(2, &rest), minute < 60
        else {
            return nil
        }
        guard take(":", &rest) else { return needsSeconds ? nil : (hour * 60 + minute, 0) }
        guard let second = number(2, &rest), second < 61 else { return nil }
        if take(".", &rest) {
            guard number(1, &rest) != nil else { return nil }
            while number(1, &rest) != nil {}
        }
        return (hour * 60 + minute, second)
    }

    /// The offset from UTC in minutes.
    private static func takeOffset(_ rest: inout ArraySlice<UInt8>, needsColon: Bool) -> Int? {
        if take("Zz", &rest) { return 0 }
        let isBehind = rest.first == UInt8(ascii: "-")
        guard take("+-", &rest), let hours = number(2, &rest), hours < 24 else { return nil }
        let hasColon = take(":", &rest)
        if !needsColon, !hasColon, rest.isEmpty { return (isBehind ? -1 : 1) * hours * 60 }
        guard hasColon || !needsColon, let minutes = number(2, &rest), minutes < 60 else { return nil }
        return (isBehind ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func take(_ allowed: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, allowed.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func number(_ digits: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
