import Testing

@testable import SettleCore

@Suite struct `JSONValue numbers` {
    @Test(arguments: ["0", "-0", "1", "-12", "1.5", "1e3", "1E-3", "18446744073709551616", "1e-400"])
    func `are made of JSONValue text`(text: String) {
        #expect(JSONNumber(text: text)?.text == text)
    }

    @Test(arguments: ["", "-", "+1", "01", "1.", ".5", "1e", "1e400", "0x1", " 1", "1 ", "1a", "NaN", "inf", "１"])
    func `are not made of other text`(text: String) {
        #expect(JSONNumber(text: text) == nil)
    }

    @Test func `give integers of 64 bits`() {
        #expect(JSONNumber(Int.min).int == .min)
        #expect(JSONNumber(Int.max).text == "9223372036854775807")
        #expect(JSONNumber(UInt64.max).int == nil)
        #expect(JSONNumber(UInt64.max).isInteger)
        #expect(JSONNumber(text: "-0")?.int == 0)
        #expect(JSONNumber(text: "1.0")?.int == nil)
        #expect(JSONNumber(text: "1e3")?.int == nil)
    }

    @Test func `give floats`() {
        #expect(JSONNumber(text: "1e3")?.double == 1000)
        #expect(JSONNumber(text: "-0.0")?.double.sign == .minus)
        #expect(JSONNumber(text: "1e-400")?.double == 0)
        #expect(JSONNumber(Int.max).double == 0x1p63)
        #expect(JSONNumber(text: String(repeating: "9", count: 400))?.double == .infinity)
        #expect(JSONNumber(Double.infinity) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
        #expect(JSONNumber(Double.nan) == nil)
    }

    @Test func `have the nearest value, also where CouchDB reads another one`() {
        #expect(JSONNumber(text: "5e-324")?.double == .leastNonzeroMagnitude)
        #expect(JSONNumber(text: "5e-324") != JSONNumber(text: "0.0"))
        #expect(JSONNumber(text: "5e-324") == JSONNumber(text: "5.0e-324"))
        #expect(JSONNumber(text: "5.0e-324")?.double == .leastNonzeroMagnitude)
    }

    @Test(arguments: [
        ("1", "1", true), ("0", "-0", true), ("1", "1.0", false), ("1.0", "1e0", true), ("1000.0", "1E+3", true),
        ("0.1", "0.10", true), ("0.0", "-0.0", false), ("0.0", "0", false), ("1", "2", false), ("1.5", "1.25", false),
        ("18446744073709551616", "18446744073709551617", false), ("9007199254740993.0", "9007199254740992.0", true),
    ])
    func `are equal by value, integers apart from floats`(left: String, right: String, areEqual: Bool) throws {
        let left = try #require(JSONNumber(text: left))
        let right = try #require(JSONNumber(text: right))
        #expect((left == right) == areEqual)
        #expect((right == left) == areEqual)
        if areEqual { #expect(left.hashValue == right.hashValue) }
    }
}
