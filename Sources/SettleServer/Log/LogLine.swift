internal import SettleCore
internal import SettlePlatform

/// A line of a log: the time, and fields in order.
struct LogLine {
    private let time: String
    private let fields: [(name: String, value: JSONValue)]
    /// How many of the first fields the text form prints without their names.
    private let bare: Int

    init(_ fields: [(name: String, value: JSONValue)], bare: Int) {
        time = WallTime.now().precise
        self.fields = fields
        self.bare = bare
    }

    func bytes(_ format: LogFormat) -> [UInt8] {
        switch format {
        case .json:
            let members = [("time", JSONValue.string(time))] + fields.map { ($0.name, $0.value) }
            return JSONValue.object(JSONObject(members)).utf8 + [UInt8(ascii: "\n")]
        case .text:
            let words = fields.enumerated().map { index, field in
                index < bare ? Self.word(field.value) : "\(field.name)=\(Self.word(field.value))"
            }
            return Array(([time] + words).joined(separator: " ").utf8) + [UInt8(ascii: "\n")]
        }
    }

    /// A value as one word; one with blanks or control characters as a JSON string.
    private static func word(_ value: JSONValue) -> String {
        guard let text = value.string else { return value.isNull ? "-" : value.description }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 32 && $0.value != 34 && $0.value != 92 && !(127...159).contains($0.value)
                && !(0x2028...0x2029).contains($0.value)
        }
        return isPlain && !text.isEmpty && text != "-" ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 34, 92: result += "\\" + String(scalar)
            case 0..<32, 127...159, 0x2028...0x2029:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
