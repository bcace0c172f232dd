import Testing

@testable import SettleCore

@Suite struct `Decimal values of numbers` {
    private func decimal(_ text: String) throws -> JSONDecimal { JSONDecimal(try #require(JSONNumber(text: text))) }

    @Test(arguments: [
        ("0", "-0.00e7"), ("10", "1e1"), ("10.0", "100e-1"), ("-1.50", "-15E-1"), ("0.001", "1e-3"),
        ("1e-400", "0.1e-399"),
    ])
    func `are equal however they are spelled`(left: String, right: String) throws {
        #expect(try decimal(left) == decimal(right))
        #expect(try decimal(left).hashValue == decimal(right).hashValue)
    }

    @Test func `are in order`() throws {
        let texts = [
            "-1e308", "-18446744073709551617", "-18446744073709551616", "-2", "-1.5", "-1", "-1e-400", "0", "1e-400",
            "0.1", "0.11", "0.2", "1", "1.0000000000000000000000001", "9", "10", "10.5", "11", "1e2", "1e300",
        ]
        let values = try texts.map(decimal)
        #expect(values == values.shuffled().sorted())
        #expect(!(values[0] < values[0]))
    }

    @Test func `are integers when nothing follows the point`() throws {
        #expect(try decimal("1.50e1").integerText == "15")
        #expect(try decimal("-12e3").integerText == "-12000")
        #expect(try decimal("0.0").integerText == "0")
        #expect(try decimal("1.5").integerText == nil)
        #expect(try decimal("1e308").integerText?.count == 309)
    }
}
