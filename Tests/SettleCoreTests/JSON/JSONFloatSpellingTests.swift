import SettleTesting
import Testing

@testable import SettleCore

@Suite struct `Spelling of floats` {
    /// Every float of the recorded conformance case `revision-ids--floats`: what was sent and what CouchDB 3.5 printed.
    ///
    /// `-0.0` and `5e-324` are left out. CouchDB prints both as `0.0`; here the sign and the value stay.
    @Test(arguments: [
        ("0.0", "0.0"), ("1.0", "1.0"), ("-1.0", "-1.0"), ("1.5", "1.5"), ("0.1", "0.1"), ("0.2", "0.2"),
        ("0.30000000000000004", "0.30000000000000004"), ("1e3", "1000.0"), ("1E3", "1000.0"), ("1e+3", "1000.0"),
        ("1.0e3", "1000.0"), ("1e-3", "0.001"), ("1e22", "1e+22"), ("1e23", "1e+23"), ("1e300", "1e+300"),
        ("-1e300", "-1e+300"), ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"), ("123456789.123", "123456789.123"),
        ("100.0", "100.0"), ("1e0", "1.0"), ("0e0", "0.0"), ("1.10", "1.1"),
        ("9007199254740993.0", "9007199254740992.0"), ("1e15", "1000000000000000.0"), ("1e16", "10000000000000000.0"),
        ("1e17", "100000000000000000.0"), ("123456789012345678.0", "123456789012345680.0"),
        ("3.141592653589793", "3.141592653589793"), ("2.5e-8", "2.5e-8"), ("1e-7", "1e-7"), ("0.000001", "0.000001"),
        ("0.0001", "0.0001"), ("12345.678e-2", "123.45678"), ("1e100", "1e+100"),
    ])
    func `is that of CouchDB`(sent: String, printed: String) throws {
        let value = try #require(JSONNumber(text: sent)).double
        #expect(JSONNumber(value)?.text == printed)
    }

    @Test(arguments: [
        (1e20, "100000000000000000000.0"), (1e21, "1e+21"), (-1.5e-7, "-1.5e-7"), (-0.00001234, "-0.00001234"),
        (9_007_199_254_740_991, "9007199254740991.0"), (12_345_678_901_234_568, "12345678901234568.0"), (-0.0, "-0.0"),
        (1.2345e25, "1.2345e+25"), (1.2345678901234568e20, "123456789012345680000.0"), (0.00001, "0.00001"),
    ])
    func `has a point or an exponent and no digit too many`(value: Double, text: String) {
        #expect(JSONNumber(value)?.text == text)
    }

    @Test func `is read back as the same float, down to the smallest`() throws {
        var samples = JSONSamples(seed: 7)
        var values = (0..<20_000).map { _ in Double(bitPattern: samples.numbers.next()) }.filter(\.isFinite)
        values += (1...2000).map { Double(bitPattern: $0) } + (0..<40).map { Double(bitPattern: 1 << $0) }
        values += [.leastNormalMagnitude, .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude, -0.0, 0.0]
        values += (300...323).map { Double("1e-\($0)") ?? 0 }
        for value in values {
            let number = try #require(JSONNumber(value))
            #expect(number.double.bitPattern == value.bitPattern, "\(number)")
            #expect(JSONNumber(text: number.text) == number)
            #expect(!number.isInteger)
        }
    }
}
