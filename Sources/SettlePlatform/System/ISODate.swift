/// Dates of ISO 8601 in the spellings that programs write: `2026-11-23T14:05:09.250Z`, with or without a fraction
/// of any length, `Z` or an offset like `+01:00` or `+0100`; also a date alone, which means midnight in UTC, as in
/// JavaScript.
package enum ISODate {
    /// Parses a date.
    ///
    /// - Returns: Seconds since 1970; `nil` for invalid input, which includes a time without an offset.
    package static func seconds(of text: some StringProtocol) -> Double? {
        var scanner = DateScanner(text)
        guard let date = scanner.date() else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(date.year - 1900), Int32(date.month - 1), Int32(date.day))
        let midnight = Double(timegm(&parts))
        if scanner.isAtEnd { return midnight }
        guard scanner.consume("Tt "), let time = scanner.time(needsSeconds: true, points: ".,"),
            let offset = scanner.offset(needsColon: false), scanner.isAtEnd
        else { return nil }
        return midnight + Double((time.minutes - offset) * 60 + time.second) + time.fraction
    }
}

// MARK: - DateScanner

/// Parses the parts of a date of ISO 8601 one after the other, byte by byte.
///
///     2024-02-29 T 08:30:06.25 +01:00
///     date       │ time        offset
///                one of the marks that the caller allows
///
/// The caller decides which parts are required, and which characters separate them.
package struct DateScanner {
    /// A time of a day.
    package struct Time {
        /// Minutes since midnight.
        package var minutes: Int
        /// The seconds after these minutes, up to 60 for a leap second.
        package var second = 0
        /// The fraction of the second.
        package var fraction = 0.0
    }

    private var rest: ArraySlice<UInt8>

    package init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

    /// Whether the text has ended.
    package var isAtEnd: Bool { rest.isEmpty }

    /// Consumes one of some ASCII characters; returns `false` if another one is next.
    package mutating func consume(_ allowed: String) -> Bool {
        guard let first = rest.first, allowed.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Parses an existing date, `2024-02-29`; `nil` for anything else.
    package mutating func date() -> (year: Int, month: Int, day: Int)? {
        guard let year = number(4), consume("-"), let month = number(2), consume("-"), let day = number(2),
            1...12 ~= month
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...days[month - 1] ~= day ? (year, month, day) : nil
    }

    /// Parses a time, `08:30:06.25`; `nil` for anything else.
    ///
    /// - Parameters:
    ///   - needsSeconds: Whether seconds are required, so that `08:30` is invalid.
    ///   - points: The characters that may come before a fraction.
    /// - Returns: The time, in minutes, seconds and a fraction.
    package mutating func time(needsSeconds: Bool, points: String = ".") -> Time? {
        guard let hour = number(2), hour < 24, consume(":"), let minute = number(2), minute < 60 else { return nil }
        var time = Time(minutes: hour * 60 + minute)
        guard consume(":") else { return needsSeconds ? nil : time }
        guard let second = number(2), second < 61 else { return nil }
        time.second = second
        guard consume(points) else { return time }
        let digits = rest.prefix { 48...57 ~= $0 }
        rest = rest.dropFirst(digits.count)
        guard let fraction = Double("0." + String(decoding: digits, as: UTF8.self)), !digits.isEmpty else { return nil }
        time.fraction = fraction
        return time
    }

    /// Parses an offset from UTC, in minutes: `Z`, `+01:00`, and unless a colon is required also `+0100` or `+01`;
    /// `nil` for anything else.
    package mutating func offset(needsColon: Bool) -> Int? {
        if consume("Zz") { return 0 }
        let isBehind = rest.first == UInt8(ascii: "-")
        guard consume("+-"), let hours = number(2), hours < 24 else { return nil }
        let hasColon = consume(":")
        if !needsColon, !hasColon, isAtEnd { return (isBehind ? -1 : 1) * hours * 60 }
        guard hasColon || !needsColon, let minutes = number(2), minutes < 60 else { return nil }
        return (isBehind ? -1 : 1) * (hours * 60 + minutes)
    }

    /// Parses a number with a given count of digits.
    private mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
    }
}

// MARK: - DateText

/// Checks whether text is a date.
package enum DateText {
    /// Whether text is a date or a time of RFC 3339, as JSON Schema's formats require.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - hasDate: Whether `YYYY-MM-DD` is required.
    ///   - hasTime: Whether `HH:MM:SS` is required, optionally with a fraction, and `Z` or `±HH:MM`.
    /// - Returns: Whether it has exactly the requested parts.
    package static func isInternet(_ text: String, hasDate: Bool, hasTime: Bool) -> Bool {
        var scanner = DateScanner(text)
        if hasDate, scanner.date() == nil { return false }
        if hasDate, hasTime, !scanner.consume("Tt") { return false }
        guard hasTime else { return scanner.isAtEnd }
        guard let time = scanner.time(needsSeconds: true), let offset = scanner.offset(needsColon: true),
            scanner.isAtEnd
        else { return false }
        // A leap second is the last second of a day in UTC.
        return time.second < 60 || (time.minutes - offset + 2 * 1440) % 1440 == 1439
    }

    /// Whether text is an ISO 8601 date in the form that programs write: `2024-02-29`, optionally followed by `T`
    /// or a blank, a time `08:30`, `08:30:06` or `08:30:06.25`, and optionally `Z`, `+01:00`, `+0100` or `+01`.
    package static func isISO8601(_ text: String) -> Bool {
        var scanner = DateScanner(text)
        guard scanner.date() != nil else { return false }
        if scanner.isAtEnd { return true }
        guard scanner.consume("Tt "), let time = scanner.time(needsSeconds: false), time.second < 60 else {
            return false
        }
        return scanner.isAtEnd || (scanner.offset(needsColon: false) != nil && scanner.isAtEnd)
    }
}
