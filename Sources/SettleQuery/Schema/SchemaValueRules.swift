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
    /// Bytes that are equal for equal values and different for different values.
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

// MARK: - SchemaNumberRules

/// The rules about numbers.
enum SchemaNumberRules {
    /// `maximum`, `minimum` and their exclusive forms.
    struct BoundRule: SchemaRule {
        let keyword: String
        let bound: JSONNumber
        let decimal: JSONDecimal

        init(_ keyword: String, _ bound: JSONNumber) {
            self.keyword = keyword
            self.bound = bound
            decimal = JSONDecimal(bound)
        }

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .number(let number) = value else { return }
            let value = JSONDecimal(number)
            switch keyword {
            case "maximum" where value > decimal: evaluation.report(keyword, "is more than \(bound)")
            case "minimum" where value < decimal: evaluation.report(keyword, "is less than \(bound)")
            case "exclusiveMaximum" where value >= decimal: evaluation.report(keyword, "is not less than \(bound)")
            case "exclusiveMinimum" where value <= decimal: evaluation.report(keyword, "is not more than \(bound)")
            default: break
            }
        }
    }

    /// `multipleOf`, computed in decimals without rounding.
    struct MultipleRule: SchemaRule {
        let divisor: JSONNumber
        private let mantissa: UInt64
        private let exponent: Int

        /// Creates the rule; `nil` for a divisor that is not positive or has more than 18 digits.
        init?(_ divisor: JSONNumber) {
            let decimal = JSONDecimal(divisor)
            guard !decimal.isNegative, 1...18 ~= decimal.digits.count else { return nil }
            self.divisor = divisor
            mantissa = decimal.digits.reduce(0) { $0 * 10 + UInt64($1) }
            exponent = decimal.exponent
        }

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .number(let number) = value, !isMultiple(JSONDecimal(number)) else { return }
            evaluation.report("multipleOf", "is not a multiple of \(divisor)")
        }

        private func isMultiple(_ value: JSONDecimal) -> Bool {
            if value.digits.isEmpty { return true }
            // The digits don't end in zero, so a divisor with more trailing zeros than the value never divides it.
            guard value.exponent >= exponent else { return false }
            var rest = value.digits.reduce(0) { ($0 * 10 + UInt64($1)) % mantissa }
            var (power, base) = (value.exponent - exponent, 10 % mantissa)
            while power > 0 {
                if power & 1 == 1 { rest = times(rest, base) }
                base = times(base, base)
                power >>= 1
            }
            return rest % mantissa == 0
        }

        private func times(_ left: UInt64, _ right: UInt64) -> UInt64 {
            UInt64(UInt128(left) * UInt128(right) % UInt128(mantissa))
        }
    }
}

// MARK: - SchemaLogicRules

/// The rules that combine schemas.
enum SchemaLogicRules {
    /// `allOf`.
    struct AllRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            for schema in schemas { evaluation.apply(schema, to: value) }
        }
    }

    /// `anyOf`.
    struct AnyRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            var isMet = false
            for schema in schemas where evaluation.matches(schema, value) {
                isMet = true
                // Each matching subschema may have evaluated other members.
                if !evaluation.tracksEvaluated { return }
            }
            if !isMet { evaluation.report("anyOf", "none of \(schemas.count) schemas allows it") }
        }
    }

    /// `oneOf`.
    struct OneRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            var count = 0
            for schema in schemas where evaluation.matches(schema, value) { count += 1 }
            if count != 1 { evaluation.report("oneOf", "\(count) of \(schemas.count) schemas allow it, not one") }
        }
    }

    /// `not`.
    struct NotRule: SchemaRule {
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            let matches = evaluation.withoutEvaluated { $0.matches(schema, value) }
            if matches { evaluation.report("not", "is allowed by a schema that must not allow it") }
        }
    }

    /// `if` with `then` and `else`.
    struct ConditionRule: SchemaRule {
        let condition: Int
        let then: Int?
        let otherwise: Int?

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            if let schema = evaluation.matches(condition, value) ? then : otherwise {
                evaluation.apply(schema, to: value)
            }
        }
    }
}
