import Foundation
import Testing

@testable import SettleCore

@Suite struct `JSONValue round trips` {
    @Test func `keep the order of members and the spelling of numbers`() throws {
        let text = #"{"z":1.0,"a":1e3,"m":[1E+3,-0,-0.0,100.00],"é":18446744073709551616}"#
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test func `write only the escapes CouchDB writes`() throws {
        let text = #""\u0041\/\"\\\b\f\n\r\t\u0000\u001f\u007f\u2028""#
        let expected = "\"A/\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001F\u{7F}\u{2028}\""
        #expect(try JSONValue(parsing: text).description == expected)
    }

    @Test(arguments: 0..<20)
    func `of random values give the value back, with white space too`(seed: UInt64) throws {
        var samples = JSONSamples(seed: seed)
        for _ in 0..<100 {
            let value = samples.value()
            let text = value.utf8
            #expect(try JSONValue(utf8: text) == value)
            #expect(try JSONValue(utf8: text).utf8 == text)
            #expect(try JSONValue(utf8: samples.spread(text)).utf8 == text)
            #expect(try JSONValue(parsing: value.prettyPrinted).utf8 == text)
        }
    }

    @Test(arguments: 0..<10)
    func `of damaged texts are refused where Foundation refuses them`(seed: UInt64) throws {
        var samples = JSONSamples(seed: seed)
        let alphabet = Array(#"{}[]:,"\ue1. -tn"#.utf8)
        for _ in 0..<200 {
            var text = samples.value(depth: 2).utf8.filter { $0 < 0x80 && $0 != 0x7F }
            let place = Int.random(in: 0..<max(text.count, 1), using: &samples.numbers)
            if text.isEmpty { continue }
            text[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &samples.numbers)]
            let data = Data(text)
            let foundation = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            let shown = String(decoding: text, as: UTF8.self)
            do {
                _ = try JSONValue(utf8: text)
                #expect(foundation, "\(shown)")
            } catch  where error.code != .numberOutOfRange {
                #expect(!foundation, "\(shown): \(error)")
            } catch {}
        }
    }

    @Test func `are pretty-printed`() {
        let value: JSONValue = ["a": [1, ["b": nil]], "c": [], "d": [:]]
        let expected = """
            {
              "a": [
                1,
                {
                  "b": null
                }
              ],
              "c": [],
              "d": {}
            }
            """
        #expect(value.prettyPrinted == expected)
    }
}
