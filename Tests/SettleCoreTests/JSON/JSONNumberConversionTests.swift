import Testing

@testable import SettleCore

@Suite struct `Conversion of numbers` {
    private func double(_ text: String, inCouchDB: Bool = false) throws -> Double {
        try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws -> Double in
            let base = try #require(bytes.baseAddress)
            var scanner = JSONNumberScanner(base: base, count: bytes.count, offset: 0)
            let scanned = scanner.scan()
            let token = try #require(scanned)
            #expect(token.end == bytes.count)
            return inCouchDB
                ? JSONNumberConversion.doubleInCouchDB(token, in: bytes) : JSONNumberConversion.double(token, in: bytes)
        }
    }

    @Test func `gives the bits Swift gives, for 100,000 ordinary spellings`() throws {
        var samples = JSONSamples(seed: 42)
        var differing: [String] = []
        var count = 0
        while count < 100_000 {
            let text = samples.spelling()
            guard let expected = Double(text), expected.isFinite, isOrdinary(text, expected) else { continue }
            count += 1
            for inCouchDB in [false, true]
            where try double(text, inCouchDB: inCouchDB).bitPattern != expected.bitPattern {
                differing.append(text)
            }
        }
        #expect(differing == [])
    }

    @Test func `gives the nearest float for each spelling, whatever its length and exponent`() throws {
        var samples = JSONSamples(seed: 43)
        var texts = (0..<20_000).map { _ in samples.spelling() }
        for digit in 1...9 { texts += (300...325).map { "\(digit)e-\($0)" } }
        let differing = try texts.filter { text in
            guard let expected = Double(text), expected.isFinite else { return false }
            return try double(text).bitPattern != expected.bitPattern
        }
        #expect(differing == [])
    }

    private func isOrdinary(_ text: String, _ value: Double) -> Bool {
        text.contains(".") || (text.utf8.count < 32 && value.magnitude >= .leastNormalMagnitude)
    }

    @Test(arguments: ["5e-324", "-5e-324", "1e-323", "1e-310", "22e-310", "18446744073709551616e-330"])
    func `multiplies by a power of ten, for the revision id, where a float without point underflows`(
        text: String
    ) throws {
        let parts = text.split(separator: "e")
        let power = try #require(Int(parts[1]))
        let factor = try #require(Double(parts[0]))
        let value = try double(text, inCouchDB: true)
        #expect(value.bitPattern == (factor * (power < -323 ? 0 : Double("1e\(power)") ?? 0)).bitPattern)
        #expect(value.sign == (text.hasPrefix("-") ? .minus : .plus))
    }

    @Test func `rounds twice, for the revision id, where a float without point has 32 characters`() throws {
        let digits = "1234567890123456789012345678"
        let short = digits.dropLast() + "e-10"
        let long = digits + "e-10"
        #expect(short.count == 31 && long.count == 32)
        #expect(try double(String(short), inCouchDB: true) == Double(short))
        let integer = try #require(Double(digits))
        #expect(try double(long, inCouchDB: true) == integer * 1e-10)
        #expect(try double(digits + ".0e-10", inCouchDB: true) == Double(digits + ".0e-10"))
    }

    @Test(arguments: [
        ("0e-999", 0.0), ("-0e-999", -0.0), ("0.0", 0), ("-0", -0.0), ("1e-400", 0), ("1.5e-400", 0), ("1e308", 1e308),
        ("0.00000000000000000000000000000000000001e38", 1), ("4.9e-324", .leastNonzeroMagnitude),
        ("123456789012345678901", 1.2345678901234568e20),
    ])
    func `gives known values`(text: String, value: Double) throws {
        #expect(try double(text).bitPattern == value.bitPattern)
        #expect(try double(text, inCouchDB: true).bitPattern == value.bitPattern)
    }

    @Test func `gives small integers`() throws {
        let texts = ["0", "-0", "7", "-999999999999999999", "9999999999999999999", "1.0", "1e1"]
        let values = try texts.map { text in
            try Array(text.utf8).withUnsafeBufferPointer { bytes in
                var scanner = JSONNumberScanner(base: try #require(bytes.baseAddress), count: bytes.count, offset: 0)
                let token = scanner.scan()
                return try #require(token).smallInteger
            }
        }
        #expect(values == [0, 0, 7, -999_999_999_999_999_999, nil, nil, nil])
    }
}
