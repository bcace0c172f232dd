import SettleCore

/// The rules about numbers.
enum SchemaNumberRules {
    /// `maximum`, `minimum` and the exclusive ones.
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
            evaluation.report("multipleOf", "is no multiple of \(divisor)")
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
