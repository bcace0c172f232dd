import SettleCore
import SettleTesting

/// Random JSON values that often share parts.
struct RandomJSON {
    var random: SeededRandom

    private static let strings = [
        "", "a", "A", "\u{E1}", "a\u{301}", "aa", "ab", "b", "B", "1", "10", "2", "_", "-", " ", "\u{DF}", "ss",
        "\u{1F600}",
        "\u{FFFD}", "z", "\u{430}", "\u{3042}", "a\u{0}b", "\u{200B}",
    ]
    private static let numbers = [
        "0", "-0", "0.0", "-0.0", "1", "1.0", "1e0", "-1", "0.5", "2", "9007199254740992", "9007199254740993",
        "9007199254740992.0", "1e23", "100000000000000000000000", "99999999999999991611392", "-1e23", "1e300",
        "-9223372036854775808", "9223372036854775808", "-9223372036854775808.0", "1e-300",
    ]

    mutating func value(depth: Int = 3) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2, 3: JSONNumber(text: Self.numbers.randomElement(using: &random) ?? "0").map(JSONValue.number) ?? .null
        case 4, 5: .string(string())
        case 6, 7: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth - 1) })
        default: .object(object(depth: depth - 1))
        }
    }

    mutating func object(depth: Int) -> JSONObject {
        JSONObject((0..<Int.random(in: 0...3, using: &random)).map { _ in (string(), value(depth: depth)) })
    }

    mutating func string() -> String {
        let parts = (0..<Int.random(in: 1...2, using: &random)).map { _ in
            Self.strings.randomElement(using: &random) ?? ""
        }
        return parts.joined()
    }
}
