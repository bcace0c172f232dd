/// Dates of HTTP's headers (RFC 9110, section 5.6.7), in all three spellings, and those of cookies.
package enum HTTPDate {
    /// Reads a date.
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
