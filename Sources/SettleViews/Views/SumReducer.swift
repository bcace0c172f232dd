internal import SettleCore

/// The sum of numbers, arrays of numbers element by element, and objects member by member: `_sum`.
///
/// For values that can't be added the result is an error object instead of a sum.
struct SumReducer: ViewReducer {
    /// An invalid sum, with the value to return instead.
    private struct Failure: Error { let value: JSONValue }

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in
            Self.integers(rows.lazy.map(\.value)) ?? Self.sum(rows.lazy.map { Array($0.value) })
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] { groups.map { Self.sum($0) } }

    /// The sum if all values are small integers, as usual.
    private static func integers(_ values: some Sequence<ArraySlice<UInt8>>) -> [UInt8]? {
        var sum = 0
        for value in values {
            guard value.count < 18, let number = Int(String(decoding: value, as: UTF8.self)) else { return nil }
            let (next, isTooLarge) = sum.addingReportingOverflow(number)
            guard !isTooLarge else { return nil }
            sum = next
        }
        return Array(String(sum).utf8)
    }

    private static func sum(_ values: some Sequence<[UInt8]>) -> [UInt8] {
        var total: JSONValue = 0
        var length = 0
        for bytes in values {
            length += bytes.count
            do {
                total = try add((try? JSONValue(utf8: bytes)) ?? .null, to: total)
            } catch let failure as Failure { return failure.value.utf8 } catch { return JSONValue.null.utf8 }
        }
        let result = total.utf8
        guard result.count > 5000, result.count * 2 > length else { return result }
        let reason = "Reduce output must shrink more rapidly: input size: \(length) output size: \(result.count)"
        return JSONValue.object(["error": "builtin_reduce_error", "reason": .string(reason)]).utf8
    }

    private static func add(_ value: JSONValue, to total: JSONValue) throws -> JSONValue {
        switch (value, total) {
        case (.number(let value), .number(let total)): return .number(NumberSum.add(total, value))
        case (.array(let value), .array(let total)): return .array(try add(value, to: total))
        case (.number, .array(let total)): return .array(try add([value], to: total))
        case (.array(let value), .number): return .array(try add(value, to: [total]))
        case (.object(let members), _):
            if members["error"] == "builtin_reduce_error" { throw Failure(value: value) }
            if total == 0 { return value }
            guard let sums = total.object else { throw failure(value) }
            return .object(try add(members, to: sums))
        default: throw failure(value)
        }
    }

    private static func add(_ values: [JSONValue], to totals: [JSONValue]) throws -> [JSONValue] {
        var sums = totals
        for (index, value) in values.enumerated() {
            guard index < sums.count else {
                sums.append(value)
                continue
            }
            guard let left = sums[index].number, let right = value.number else { throw failure(.array(values)) }
            sums[index] = .number(NumberSum.add(left, right))
        }
        return sums
    }

    /// Adds objects member by member. The members of the sum are ordered by bytes.
    private static func add(_ members: JSONObject, to sums: JSONObject) throws -> JSONObject {
        var sums = sums
        for member in members {
            sums[member.name] = try sums[member.name].map { try add(member.value, to: $0) } ?? member.value
        }
        return JSONObject(
            sums.map { ($0.name, $0.value) }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) })
    }

    private static func failure(_ value: JSONValue) -> Failure {
        let reason = """
            The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed \
            with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are \
            themselves numbers, arrays of numbers, or objects.
            """
        return Failure(
            value: ["error": "builtin_reduce_error", "reason": .string(reason), "caused_by": value])
    }
}

// MARK: - NumberSum

/// Sums as in Erlang: exact for integers of any size; a float if any number is a float.
enum NumberSum {
    static func add(_ left: JSONNumber, _ right: JSONNumber) -> JSONNumber {
        guard left.isInteger, right.isInteger else { return JSONNumber(left.double + right.double) ?? left }
        if let first = left.int, let second = right.int {
            let (sum, isTooLarge) = first.addingReportingOverflow(second)
            if !isTooLarge { return JSONNumber(sum) }
        }
        return exact(left.text, right.text)
    }

    static func square(_ number: JSONNumber) -> JSONNumber {
        guard number.isInteger else { return JSONNumber(number.double * number.double) ?? number }
        if let value = number.int {
            let (square, isTooLarge) = value.multipliedReportingOverflow(by: value)
            if !isTooLarge { return JSONNumber(square) }
        }
        let digits = magnitude(number.text)
        var product = [Int](repeating: 0, count: digits.count * 2 + 1)
        for (place, digit) in digits.enumerated() {
            for (other, factor) in digits.enumerated() { product[place + other] += digit * factor }
        }
        return spelled(product, isNegative: false)
    }

    /// Adds integers digit by digit, starting with the lowest.
    private static func exact(_ left: String, _ right: String) -> JSONNumber {
        let sides = [left, right].map { (digits: magnitude($0), isNegative: $0.hasPrefix("-")) }
        let length = max(sides[0].digits.count, sides[1].digits.count)
        var sum = [Int](repeating: 0, count: length + 1)
        for side in sides {
            for (place, digit) in side.digits.enumerated() { sum[place] += side.isNegative ? -digit : digit }
        }
        // The highest nonzero digit has the sign.
        let isNegative = (sum.last { $0 != 0 } ?? 0) < 0
        return spelled(isNegative ? sum.map { -$0 } : sum, isNegative: isNegative)
    }

    private static func magnitude(_ text: String) -> [Int] {
        text.utf8.filter { $0 != UInt8(ascii: "-") }.reversed().map { Int($0) - 48 }
    }

    private static func spelled(_ columns: [Int], isNegative: Bool) -> JSONNumber {
        var digits: [UInt8] = []
        var carry = 0
        for column in columns {
            let value = column + carry
            let digit = ((value % 10) + 10) % 10
            carry = (value - digit) / 10
            digits.append(UInt8(48 + digit))
        }
        while carry > 0 {
            digits.append(UInt8(48 + carry % 10))
            carry /= 10
        }
        while digits.count > 1, digits.last == 48 { digits.removeLast() }
        let text = String(decoding: digits.reversed(), as: UTF8.self)
        return JSONNumber(text: (isNegative && text != "0" ? "-" : "") + text) ?? JSONNumber(0)
    }
}
