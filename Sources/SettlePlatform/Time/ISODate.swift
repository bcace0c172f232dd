/// Dates of ISO 8601 in the spellings that programs write: `2026-11-23T14:05:09.250Z`, with any number of digits of a fraction or
/// none, `Z` or an offset as `+01:00` or `+0100`; and a date alone, which is midnight in UTC, as in JavaScript.
package enum ISODate {
    /// Reads a date.
    ///
    /// - Returns: Seconds since 1970; `nil` for invalid input, which includes a time without an offset.
    package static func seconds(of text: some StringProtocol) -> Double? {
        var scanner = DateScanner(text)
        guard let date = scanner.date() else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(date.year - 1900), Int32(date.month - 1), Int32(date.day))
        let midnight = Double(timegm(&parts))
        if scanner.isAtEnd { return midnight }
        guard scanner.take("Tt "), let time = scanner.time(needsSeconds: true, points: ".,"),
            let offset = scanner.offset(needsColon: false), scanner.isAtEnd
        else { return nil }
        return midnight + Double((time.minutes - offset) * 60 + time.second) + time.fraction
    }
}
