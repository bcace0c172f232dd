/// Merges numbers as counters.
enum MergeSum {
    /// The base plus what each edit added to it.
    ///
    ///     base + Σ (version - base)  =  Σ version - (edits - 1) · base
    ///
    /// - Complexity: O(*n*) in digits.
    static func merge(_ member: MergeMember, edits: [Int]) throws(MergeMisfit) -> JSONValue {
        if member.isRemoved { throw .removed }
        guard let base = (member.base ?? 0).number else { throw .notNumbers }
        var numbers = [base]
        var sum = DecimalSum()
        sum.add(decimal(base), times: 1 - edits.count)
        for edit in edits {
            guard let number = member.versions[edit]?.number else { throw .notNumbers }
            numbers.append(number)
            sum.add(decimal(number), times: 1)
        }
        guard let result = numbers.allSatisfy(\.isInteger) ? sum.integer : sum.float else { throw .outOfRange }
        return .number(result)
    }

    /// The number's value. It is computed from a float's bits, not its spelling; otherwise replicas with different
    /// spellings would compute different sums.
    private static func decimal(_ number: JSONNumber) -> JSONDecimal {
        if number.isInteger { return JSONDecimal(number) }
        return JSONDecimal(JSONNumber(number.double) ?? number)
    }
}

// MARK: - DecimalSum

/// An exact sum of decimal numbers, so that it does not depend on the order of its terms.
///
/// Each decimal place has its own column, and columns are summed separately; carrying happens at the end:
///
///     12.5  · 1          1    2    5
///      0.7  · 3               0   21
///                       ──────────────
///                        1    2   26   →   14.6
struct DecimalSum {
    /// Sums by place, the lowest first.
    private var columns: [Int] = []
    /// The power of ten of the lowest column.
    private var lowest = 0

    /// Adds a number several times, or subtracts it for a negative factor.
    mutating func add(_ number: JSONDecimal, times factor: Int) {
        if number.digits.isEmpty { return }
        if columns.isEmpty { lowest = number.exponent }
        if number.exponent < lowest {
            columns.insert(contentsOf: repeatElement(0, count: lowest - number.exponent), at: 0)
            lowest = number.exponent
        }
        let start = number.exponent - lowest
        let missing = start + number.digits.count - columns.count
        if missing > 0 { columns += repeatElement(0, count: missing) }
        let signed = number.isNegative ? -factor : factor
        for (place, digit) in number.digits.reversed().enumerated() { columns[start + place] += Int(digit) * signed }
    }

    /// The sum as an integer; `nil` if it is not an integer, or has more digits than a JSON number may have.
    var integer: JSONNumber? {
        guard lowest >= 0 else { return nil }
        let (sign, digits) = spelled
        if digits == "0" { return JSONNumber(0) }
        return JSONNumber(text: sign + digits + String(repeating: "0", count: lowest))
    }

    /// The float nearest to the sum; `nil` if it is out of range.
    var float: JSONNumber? {
        let (sign, digits) = spelled
        // With a point, because CouchDB would round a float without one twice.
        guard let exact = JSONNumber(text: sign + digits + ".0e\(lowest)") else { return nil }
        return JSONNumber(exact.double)
    }

    /// The sign and the digits, the highest first, without leading zeros.
    private var spelled: (sign: String, digits: String) {
        let (digits, carry) = Self.carried(columns)
        if carry < 0 {
            let opposite = Self.carried(columns.map { -$0 })
            return ("-", Self.text(opposite.digits, opposite.carry))
        }
        return ("", Self.text(digits, carry))
    }

    /// One digit per column, and the carry beyond the highest.
    private static func carried(_ columns: [Int]) -> (digits: [UInt8], carry: Int) {
        var carry = 0
        let digits = columns.map { column in
            let total = column + carry
            let digit = ((total % 10) + 10) % 10
            carry = (total - digit) / 10
            return UInt8(digit)
        }
        return (digits, carry)
    }

    private static func text(_ digits: [UInt8], _ carry: Int) -> String {
        let places = digits.reversed().map { $0 + UInt8(ascii: "0") }
        let all = Array(String(carry).utf8) + places
        let significant = all.drop { $0 == UInt8(ascii: "0") }
        return significant.isEmpty ? "0" : String(decoding: significant, as: UTF8.self)
    }
}
