import SettleCore

/// The rules about values of any kind, and about strings.
enum SchemaValueRules {
    /// `type`.
    struct TypeRule: SchemaRule {
        static let names = ["null", "boolean", "object", "array", "number", "string", "integer"]
        let names: [String]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            if names.contains(where: { isOne(value, $0) }) { return }
            evaluation.report("type", "expected \(names.joined(separator: " or ")), found \(value.kind)")
        }

        private func isOne(_ value: JSONValue, _ name: String) -> Bool {
            switch value {
            case .null: name == "null"
            case .bool: name == "boolean"
            case .object: name == "object"
            case .array: name == "array"
            case .string: name == "string"
            case .number(let number): name == "number" || (name == "integer" && JSONDecimal(number).isInteger)
            }
        }
    }

    /// `enum` and `const`.
    struct EnumRule: SchemaRule {
        let keyword: String
        let allowed: Set<[UInt8]>

        init(_ keyword: String, _ values: [JSONValue]) {
            self.keyword = keyword
            allowed = Set(values.map(SchemaCanonical.bytes))
        }

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            if allowed.contains(SchemaCanonical.bytes(value)) { return }
            let message = keyword == "const" ? "is not the one value allowed" : "is none of the values allowed"
            evaluation.report(keyword, message)
        }
    }

    /// `pattern`.
    struct PatternRule: SchemaRule {
        let text: String
        let pattern: SchemaPattern

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .string(let string) = value, !pattern.isFound(in: string) else { return }
            evaluation.report("pattern", "does not match \(text)")
        }
    }

    /// The keywords that bound a length or a count.
    struct CountRule: SchemaRule {
        let keyword: String
        let bound: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            let (count, unit): (Int, String)
            switch (value, keyword) {
            case (.string(let string), "maxLength"), (.string(let string), "minLength"):
                (count, unit) = (string.unicodeScalars.count, "characters")
            case (.array(let elements), "maxItems"), (.array(let elements), "minItems"):
                (count, unit) = (elements.count, "elements")
            case (.object(let members), "maxProperties"), (.object(let members), "minProperties"):
                (count, unit) = (members.count, "members")
            default: return
            }
            if keyword.hasPrefix("max") ? count <= bound : count >= bound { return }
            evaluation.report(
                keyword, "has \(count) \(unit), \(keyword.hasPrefix("max") ? "more" : "fewer") than \(bound)")
        }
    }
}

/// JSON Schema's equality of JSON values: `1` equals `1.0`, and the order of members is ignored.
enum SchemaCanonical {
    /// Bytes that are equal for equal values and different for others.
    ///
    /// - Complexity: O(*n* log *n*) in the size of the value.
    static func bytes(_ value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .number(let number):
            let decimal = JSONDecimal(number)
            let digits = String(decoding: decimal.digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            bytes += Array("\(decimal.isNegative ? "-" : "")\(digits)e\(decimal.exponent)".utf8)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for element in elements {
                append(element, to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                bytes += JSONValue.string(member.name).utf8
                bytes.append(UInt8(ascii: ":"))
                append(member.value, to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "}"))
        default: bytes += value.utf8
        }
    }
}
