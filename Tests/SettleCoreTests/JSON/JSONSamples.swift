import SettleTesting

@testable import SettleCore

/// Random JSON values and spellings for property tests.
struct JSONSamples {
    var numbers: SeededRandom

    init(seed: UInt64) { numbers = SeededRandom(seed: seed) }

    mutating func value(depth: Int = 4) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &numbers) {
        case 0: .null
        case 1: .bool(Bool.random(using: &numbers))
        case 2: .number(JSONNumber(Int.random(in: .min ... .max, using: &numbers)))
        case 3: .number(JSONNumber(unchecked: spelling()))
        case 4, 5: .string(string())
        case 6: .array((0..<Int.random(in: 0...6, using: &numbers)).map { _ in value(depth: depth - 1) })
        default:
            .object(
                JSONObject(
                    (0..<Int.random(in: 0...12, using: &numbers)).map { _ in (string(), value(depth: depth - 1)) }))
        }
    }

    mutating func string() -> String {
        let alphabet: [Character] = [
            "a", "b", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "\u{2028}", "\u{FFFF}", "😀",
            " ",
        ]
        return String(
            (0..<Int.random(in: 0...20, using: &numbers)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &numbers)]
            })
    }

    /// A number of up to 25 characters.
    mutating func spelling() -> String {
        var text = Bool.random(using: &numbers) ? "-" : ""
        text += String(UInt64.random(in: 0...(.max), using: &numbers) >> UInt64.random(in: 0..<64, using: &numbers))
        if Bool.random(using: &numbers) {
            text += "."
            for _ in 0..<Int.random(in: 1...(26 - max(text.count, 10)), using: &numbers) {
                text += String(Int.random(in: 0...9, using: &numbers))
            }
        }
        guard Bool.random(using: &numbers) else { return text }
        let sign = ["", "+", "-"][Int.random(in: 0...2, using: &numbers)]
        return text + (Bool.random(using: &numbers) ? "e" : "E") + sign
            + String(Int.random(in: 0...280, using: &numbers))
    }

    /// The text with white space wherever JSON allows it.
    mutating func spread(_ text: [UInt8]) -> [UInt8] {
        var result = space()
        var inString = false
        var isEscaped = false
        for byte in text {
            let isMark = !inString && Array("{}[]:,".utf8).contains(byte)
            if isMark { result += space() }
            result.append(byte)
            if isMark { result += space() }
            if byte == UInt8(ascii: "\""), !isEscaped { inString.toggle() }
            isEscaped = inString && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return result + space()
    }

    private mutating func space() -> [UInt8] {
        (0..<Int.random(in: 0...2, using: &numbers)).map { _ in
            [0x20, 0x09, 0x0A, 0x0D][Int.random(in: 0..<4, using: &numbers)]
        }
    }
}
