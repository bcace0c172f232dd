import SettleCore

/// The rules about values of any kind, and about strings.
enum SchemaValueRules {
    /// `type`.
    struct TypeRule: SchemaRule {
        static let names = ["null", "boolean", "object", "array", "number", "string", "integer"]
        let names: [String]

        func check(_ value: JSON, _ evaluation: inout SchemaEvaluation) {
            if names.contains(where: { isOne(value, $0) }) { return }
            evaluation.report("type", "expected \(names.joined(separator: " or ")), found \(value.kind)")
        }

        private func isOne(_ value: JSON, _ name: String) -> Bool {
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

        init(_ keyword: String, _ values: [JSON]) {
            self.keyword = keyword
            allowed = Set(values.map(SchemaCanonical.bytes))
        }

        func check(_ value: JSON, _ evaluation: inout SchemaEvaluation) {
            if allowed.contains(SchemaCanonical.bytes(value)) { return }
            let message = keyword == "const" ? "is not the one value allowed" : "is none of the values allowed"
            evaluation.report(keyword, message)
        }
    }

    /// `pattern`.
    struct PatternRule: SchemaRule {
        let text: String
        let pattern: SchemaPattern

        func check(_ value: JSON, _ evaluation: inout SchemaEvaluation) {
            guard case .string(let string) = value, !pattern.isFound(in: string) else { return }
            evaluation.report("pattern", "does not match \(text)")
        }
    }

    /// The keywords that bound a length or a count.
    struct CountRule: SchemaRule {
        let keyword: String
        let bound: Int

        func check(_ value: JSON, _ evaluation: inout SchemaEvaluation) {
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
