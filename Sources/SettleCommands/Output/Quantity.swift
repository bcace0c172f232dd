/// Formats numbers for people.
enum Quantity {
    /// A whole number in groups of three digits: `60,123`.
    static func grouped(_ number: some BinaryInteger) -> String {
        var text = ""
        for (index, digit) in String(number.magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// A count with its noun, which is in the plural unless the count is one.
    static func of(_ number: Int, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// A size in bytes, in decimal units: `34.2 MB`.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        var units = ["bytes", "KB", "MB", "GB", "TB"][...]
        while abs(value) >= 999.95, units.count > 1 {
            value /= 1000
            units = units.dropFirst()
        }
        let unit = units.first ?? ""
        if unit == "bytes" { return count == 1 ? "1 byte" : "\(count) bytes" }
        return "\(decimal(value)) \(unit)"
    }

    /// A number with one decimal.
    static func decimal(_ value: Double) -> String {
        guard abs(value) < 1e15 else { return "\(value)" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }

    /// A duration: `430 ms`, `2.1 s`, `3 min 20 s`.
    static func duration(_ duration: Duration) -> String {
        let seconds = seconds(duration)
        if seconds < 1 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 60 { return "\(decimal(seconds)) s" }
        return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s"
    }

    /// A rate per second.
    static func rate(_ count: Int, in duration: Duration) -> String {
        let seconds = max(seconds(duration), 0.000_001)
        return "\(grouped(Int(min(Double(count) / seconds, 1e15).rounded())))/s"
    }

    /// A duration in seconds.
    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
