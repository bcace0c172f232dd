internal import SettleCore

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

    /// Adds integers digit by digit, from the lowest up.
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
