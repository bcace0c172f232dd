/// A revision id, as `2-967a00dff5e02add41819138abb3284d`.
struct Revision: Hashable, Comparable, CustomStringConvertible {
    let generation: Int
    let high: UInt64
    let low: UInt64

    init(generation: Int, high: UInt64, low: UInt64) {
        (self.generation, self.high, self.low) = (generation, high, low)
    }

    init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let generation = Int(parts[0]) else { return nil }
        self.init(generation: generation, digits: parts[1])
    }

    init?(generation: Int, digits: Substring) {
        guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.dropFirst(16), radix: 16)
        else { return nil }
        self.init(generation: generation, high: high, low: low)
    }

    /// The part after the generation.
    var digits: String { Self.hex(high) + Self.hex(low) }

    var description: String { "\(generation)-\(digits)" }

    static func < (left: Revision, right: Revision) -> Bool {
        (left.generation, left.high, left.low) < (right.generation, right.high, right.low)
    }

    private static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
