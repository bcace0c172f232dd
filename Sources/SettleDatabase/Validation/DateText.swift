internal import SettlePlatform

/// Whether text is a date.
enum DateText {
    /// Whether it is a date or a time of RFC 3339, as JSON Schema's formats require.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - hasDate: Whether it has `YYYY-MM-DD`.
    ///   - hasTime: Whether it has `HH:MM:SS`, perhaps with a fraction, and `Z` or `±HH:MM`.
    /// - Returns: Whether it has exactly the requested parts.
    static func isInternet(_ text: String, hasDate: Bool, hasTime: Bool) -> Bool {
        var scanner = DateScanner(text)
        if hasDate, scanner.date() == nil { return false }
        if hasDate, hasTime, !scanner.take("Tt") { return false }
        guard hasTime else { return scanner.isAtEnd }
        guard let time = scanner.time(needsSeconds: true), let offset = scanner.offset(needsColon: true),
            scanner.isAtEnd
        else { return false }
        // A leap second is the last one of a day in UTC.
        return time.second < 60 || (time.minutes - offset + 2 * 1440) % 1440 == 1439
    }

    /// Whether it is an ISO 8601 date in the form that programs write: `2024-02-29`, optionally followed by `T` or a
    /// blank, a time `08:30`, `08:30:06` or `08:30:06.25`, and optionally `Z`, `+01:00`, `+0100` or `+01`.
    static func isISO8601(_ text: String) -> Bool {
        var scanner = DateScanner(text)
        guard scanner.date() != nil else { return false }
        if scanner.isAtEnd { return true }
        guard scanner.take("Tt "), let time = scanner.time(needsSeconds: false), time.second < 60 else { return false }
        return scanner.isAtEnd || (scanner.offset(needsColon: false) != nil && scanner.isAtEnd)
    }
}
