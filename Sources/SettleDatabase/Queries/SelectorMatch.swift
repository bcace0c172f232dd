internal import SettleCore

/// Evaluates a normalized selector on one value.
///
///   - A missing member matches only `$exists: false`; a path through a value that is not an object or array does not
///     match even that.
///   - Values are compared by ``Collation``, those of `_id` by ``ErlangOrder``.
///   - If CouchDB would fail (`$mod` by zero, `$nor` inside of elements), the enclosing `$elemMatch` or similar does
///     not match; without one, the whole selector does not.
///   - When the steps of ``SelectorWork`` are spent, the whole selector does not match.
struct SelectorMatch {
    /// CouchDB's response would be an internal error.
    struct Failure: Error {}

    /// Whether values are compared like ids.
    private var comparesIDs = false
    private let work: SelectorWork

    init(work: SelectorWork) { self.work = work }

    /// Whether a value matches.
    ///
    /// - Throws: ``Failure`` if CouchDB would fail.
    func matches(_ node: SelectorNode, _ value: JSONValue) throws(Failure) -> Bool {
        guard work.take(SelectorWork.condition) else { throw Failure() }
        switch node {
        case .all(let nodes):
            for node in nodes where try !matches(node, value) { return false }
            return true
        case .any(let nodes):
            for node in nodes where try matches(node, value) { return true }
            return nodes.isEmpty
        case .not(let node): return try !matches(node, value)
        case .at(let path, let node): return try matches(node, at: path, in: value)
        case .each(let quantifier, let node): return matches(node, quantifier, in: value)
        case .test(let test): return try passes(test, value)
        // Only a search index can evaluate it.
        case .none, .member, .text, .misplaced: throw Failure()
        }
    }

    /// Compares two values.
    func order(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        comparesIDs ? ErlangOrder.compare(left, right) : Collation.compare(left, right)
    }

    private func matches(_ node: SelectorNode, at path: SelectorPath, in value: JSONValue) throws(Failure) -> Bool {
        guard path.names != nil else { throw Failure() }
        switch path.destination(in: value) {
        case .missing:
            if case .test(.exists(false)) = node { return true }
            return false
        case .astray: return false
        case .value(let member):
            var inner = self
            if path.isID { inner.comparesIDs = true }
            return try inner.matches(node, member)
        }
    }

    private func matches(_ node: SelectorNode, _ quantifier: SelectorNode.Quantifier, in value: JSONValue) -> Bool {
        do throws(Failure) {
            switch (quantifier, value) {
            case (.element, .array(let elements)):
                for element in elements where try matches(node, element) { return true }
                return false
            case (.elements, .array(let elements)):
                for element in elements where try !matches(node, element) { return false }
                return !elements.isEmpty
            case (.name, .object(let members)):
                for member in members where try matches(node, .string(member.name)) { return true }
                return false
            default: return false
            }
        } catch { return false }
    }
}

extension SelectorMatch {
    /// Whether an existing value passes a test.
    func passes(_ test: SelectorTest, _ value: JSONValue) throws(Failure) -> Bool {
        switch test {
        case .compare(let comparison, let argument): return comparison.accepts(order(value, argument))
        case .contained(let values, let isIn):
            let candidates = value.array ?? [value]
            try spend(comparing: values.count, with: candidates.count)
            return isIn == values.contains { one in candidates.contains { order($0, one) == .same } }
        case .exists(let should): return should
        case .type(let name): return name == Self.kind(of: value)
        case .remainder(let divisor, let rest):
            guard let number = value.number, number.isInteger else { return false }
            return try Self.remainder(number, divisor) == rest.int
        case .pattern(let pattern):
            guard let text = value.string else { return false }
            guard work.begin() else { throw Failure() }
            let isFound = pattern.occurs(in: text, work)
            if work.isSpent { throw Failure() }
            return isFound
        case .contains(let values):
            guard let elements = value.array else { return false }
            try spend(comparing: values.count, with: elements.count)
            return Self.contains(elements, values)
        case .size(let size): return value.array.map { $0.count == size } ?? false
        case .prefix(let prefix): return value.string.map { Self.begins($0, with: prefix) } ?? false
        }
    }

    private func spend(comparing left: Int, with right: Int) throws(Failure) {
        let (count, overflows) = left.multipliedReportingOverflow(by: right)
        let (steps, overflowsToo) = count.multipliedReportingOverflow(by: SelectorWork.comparison)
        guard !overflows, !overflowsToo, work.take(steps) else { throw Failure() }
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The remainder of a division that rounds towards zero, for integers of any size.
    private static func remainder(_ number: JSONNumber, _ divisor: Int) throws(Failure) -> Int {
        guard divisor != 0 else { throw Failure() }
        let modulus = UInt128(divisor.magnitude)
        var rest: UInt128 = 0
        for digit in number.text.utf8 where digit != UInt8(ascii: "-") {
            rest = (rest * 10 + UInt128(digit & 15)) % modulus
        }
        return number.text.hasPrefix("-") ? 0 - Int(rest) : Int(rest)
    }

    /// Whether an array contains all of these elements, or equals the only argument.
    private static func contains(_ elements: [JSONValue], _ values: [JSONValue]) -> Bool {
        guard let first = values.first else { return false }
        if values.count == 1, case .array = first, ErlangOrder.compare(first, .array(elements)) == .same { return true }
        return values.allSatisfy { value in elements.contains { ErlangOrder.isIdentical($0, value) } }
    }

    /// Whether a string starts with a prefix, with a character boundary after it: `e` is not a prefix of `é` written as
    /// `e` followed by a combining accent.
    private static func begins(_ text: String, with prefix: String) -> Bool {
        guard text.utf8.starts(with: prefix.utf8) else { return false }
        guard let last = prefix.unicodeScalars.last else { return true }
        let start = text.utf8.index(text.startIndex, offsetBy: prefix.utf8.count - String(last).utf8.count)
        return String(text.unicodeScalars[start...]).first?.unicodeScalars.count == 1
    }
}
