/// Dates of HTTP's headers (RFC 9110, section 5.6.7), in all three spellings, and those of cookies.
package enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970; `nil` for what is no date.
    package static func seconds(of text: some StringProtocol) -> Double? {
        var (day, month, year) = (Int?.none, Int?.none, Int?.none)
        var time: [Int] = []
        for word in text.lowercased().split(whereSeparator: { " ,-".contains($0) }) {
            if word.contains(":") {
                time = word.split(separator: ":").compactMap { Int($0) }
            } else if let number = Int(word) {
                if day == nil, word.count <= 2 { day = number } else { year = number }
            } else if let index = months.firstIndex(of: String(word.prefix(3))) {
                month = index + 1
            }
        }
        guard let day, let month, var year, time.count == 3, 1...31 ~= day, 0...9999 ~= year, 0...23 ~= time[0],
            0...59 ~= time[1], 0...60 ~= time[2]
        else { return nil }
        if year < 70 { year += 2000 } else if year < 100 { year += 1900 }
        return Double(days(year, month, day) * 86400 + time[0] * 3600 + time[1] * 60 + time[2])
    }

    /// Days since the first of January 1970 of a day in the Gregorian calendar. Years begin in March here, so that the day
    /// that is not always there is the last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
