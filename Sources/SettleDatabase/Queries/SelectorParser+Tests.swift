internal import SettleCore

extension SelectorParser {
    /// Reads an operator that tests one value.
    static func test(_ name: String, _ argument: JSON) throws(SelectorError) -> SelectorTest {
        if let comparison = SelectorTest.Comparison(rawValue: name) { return .compare(comparison, argument) }
        switch (name, argument) {
        case ("$in", .array(let values)): return .contained(values, isIn: true)
        case ("$nin", .array(let values)): return .contained(values, isIn: false)
        case ("$all", .array(let values)): return .contains(values)
        case ("$exists", .bool(let value)): return .exists(value)
        case ("$type", .string(let name)): return .type(name)
        case ("$mod", .array(let numbers)):
            guard numbers.count == 2, let divisor = numbers[0].int, let rest = numbers[1].number, rest.isInteger else {
                throw badArgument(name, argument)
            }
            return .remainder(divisor: divisor, rest)
        case ("$size", .number(let number)):
            guard number.isInteger, !number.text.hasPrefix("-") || number.int == 0 else {
                throw badArgument(name, argument)
            }
            return .size(number.int)
        case ("$regex", .string(let text)):
            guard let pattern = BytePattern(text) else { throw badArgument(name, argument) }
            return .pattern(pattern)
        case ("$beginsWith", .string(let prefix)): return .prefix(prefix)
        case ("$in", _), ("$nin", _), ("$all", _), ("$exists", _), ("$type", _), ("$mod", _), ("$size", _):
            throw badArgument(name, argument)
        // CouchDB returns this error for `$regex` and `$beginsWith` with an argument that is not a string.
        default: throw SelectorError(.invalidOperator, "Invalid operator: \(name)")
        }
    }
}
