import SettleTesting
import Testing

@testable import SettleCore

@Suite struct DecimalSumTests {
    @Test(arguments: Seeds.all)
    func `integers are added exactly`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            var sum = DecimalSum()
            var expected: Int128 = 0
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let shift = Int.random(in: 0..<64, using: &random)
                let number = Int.random(in: .min ... .max, using: &random) >> shift
                let factor = Int.random(in: -3...3, using: &random)
                sum.add(JSONDecimal(JSONNumber(number)), times: factor)
                expected += Int128(number) * Int128(factor)
            }
            #expect(sum.integer?.text == String(expected), "seed \(seed)")
        }
    }

    @Test(arguments: Seeds.all)
    func `floats are added in any order to the same bits`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let numbers = (0..<5).map { _ in
            let mantissa = Double.random(in: -10...10, using: &random)
            let scale: [Double] = [1, 1e-3, 1e18, 1e-300, 1e300]
            return JSONNumber(mantissa * (scale.randomElement(using: &random) ?? 1)) ?? JSONNumber(0)
        }
        let sums = numbers.permutations.map { order in
            var sum = DecimalSum()
            for number in order { sum.add(JSONDecimal(number), times: 1) }
            return sum.float?.text
        }
        #expect(Set(sums).count == 1, "seed \(seed)")
    }

    @Test func `the sum of a single float is that float`() {
        let values: [Double] = [
            0.1, -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .leastNormalMagnitude, 123_456_789.125,
        ]
        for value in values {
            var sum = DecimalSum()
            if let number = JSONNumber(value) { sum.add(JSONDecimal(number), times: 1) }
            #expect(sum.float?.double == value)
        }
    }

    @Test func `the sum of nothing is zero`() {
        #expect(DecimalSum().integer?.text == "0")
        #expect(DecimalSum().float?.text == "0.0")
    }
}
