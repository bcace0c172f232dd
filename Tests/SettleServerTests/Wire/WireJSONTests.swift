import Settle
import Testing

@testable import SettleServer

@Suite struct WireJSONTests {
    @Test(arguments: [
        ("1", "1"), ("-1", "-1"), ("-0", "0"), ("1.0", "1.0"), ("1.50", "1.5"), ("1e3", "1000.0"),
        ("1E17", "100000000000000000.0"),
        ("1e22", "1e+22"), ("1e-7", "1e-7"), ("0.000001", "0.000001"), ("-0.0", "0.0"), ("5e-324", "5.0e-324"),
        ("9e-309", "9.0e-309"), ("-1e-323", "-1.0e-323"), ("2.5e-320", "2.5e-320"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        (#"{"1e3":"1e3","a":[1e3,-0],"b\"1e3":"\\"}"#, #"{"1e3":"1e3","a":[1000.0,0],"b\"1e3":"\\"}"#),
        ("[]", "[]"), (#""""#, #""""#),
    ])
    func `numbers are printed like CouchDB's, and nothing else changes`(given: String, printed: String) throws {
        #expect(String(decoding: WireJSON.bytes(try JSONValue(parsing: given)), as: UTF8.self) == printed)
        var bytes: [UInt8] = []
        WireJSON.append(Array(given.utf8), to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == printed)
    }
}
