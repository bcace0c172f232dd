import Foundation
import SettleTesting
import Testing

@testable import SettleCore
@testable import SettleDatabase

@Suite struct `Decoding from JSONValue` {
    @Test(arguments: 0..<10)
    func `gives back what was encoded`(seed: UInt64) throws {
        var samples = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let value = CodingSample.Everything(&samples)
            let json = try JSONValue(encoding: value)
            #expect(try json.decode(CodingSample.Everything.self) == value)
            #expect(try JSONValue(utf8: json.utf8).decode(CodingSample.Everything.self) == value)
            let names = json.object?.names
            #expect(names?.first == "zeta")
            #expect(names?.last == "kinds")
            #expect(names?.contains("none") == false)
        }
    }

    @Test func `takes integers in any exact spelling`() throws {
        for text in ["2", "2.0", "2e0", "20e-1", "0.2E1", "2.000"] {
            #expect(try JSONValue(parsing: text).decode(Int.self) == 2)
            #expect(try JSONValue(parsing: text).decode(UInt8.self) == 2)
            #expect(try JSONValue(parsing: text).decode(Int128.self) == 2)
        }
        #expect(
            try JSONValue(parsing: "1e38").decode(Int128.self).description == "1" + String(repeating: "0", count: 38))
        #expect(try JSONValue(parsing: "9007199254740993.0").decode(Int.self) == 9_007_199_254_740_993)
        #expect(try JSONValue(parsing: "-0").decode(UInt.self) == 0)
        #expect(try JSONValue(parsing: "-0.0").decode(Int.self) == 0)
    }

    @Test func `takes integers for floats`() throws {
        #expect(try JSONValue(parsing: "3").decode(Double.self) == 3)
        #expect(try JSONValue(parsing: "3").decode(Float.self) == 3)
        #expect(try JSONValue(parsing: "0.1").decode(Float.self) == 0.1)
        #expect(try JSONValue(parsing: "[1,2.5]").decode([Double].self) == [1, 2.5])
    }

    @Test func `takes null and missing members for optionals`() throws {
        struct Maybe: Decodable, Equatable { var a: Int?, b: [Int?]? }
        #expect(try JSONValue.object([:]).decode(Maybe.self) == Maybe())
        #expect(
            try JSONValue.object(["a": nil, "b": [nil, 1], "c": 3]).decode(Maybe.self) == Maybe(a: nil, b: [nil, 1]))
        #expect(try JSONValue.null.decode(Int?.self) == nil)
        #expect(try JSONValue.object(["x": nil]).decode([String: Int?].self) == ["x": nil])
    }

    @Test func `gives a superclass what it encoded`() throws {
        for superKey in [true, false] {
            let dog = CodingSample.Dog(superKey: superKey)
            (dog.legs, dog.name) = (3, "Tripod")
            let again = try JSONValue(encoding: dog).decode(CodingSample.Dog.self)
            #expect((again.legs, again.name) == (3, "Tripod"))
            #expect(try JSONValue(encoding: again) == JSONValue(encoding: dog))
        }
    }

    @Test func `walks nested containers by hand`() throws {
        struct Walk: Decodable {
            init(from decoder: any Decoder) throws {
                let object = try decoder.container(keyedBy: JSONCodingKey.self)
                #expect(object.allKeys.map(\.stringValue) == ["o", "l"])
                #expect(try object.nestedContainer(keyedBy: JSONCodingKey.self, forKey: "o").decodeNil(forKey: "n"))
                var list = try object.nestedUnkeyedContainer(forKey: "l")
                #expect(list.count == 6)
                #expect(try list.nestedUnkeyedContainer().isAtEnd)
                #expect(try list.nestedContainer(keyedBy: JSONCodingKey.self).allKeys.isEmpty)
                #expect(try !list.decodeNil())
                #expect((try? list.decode(String.self)) == nil)
                #expect(try list.decode(Int.self) == 1)
                #expect(try list.decodeNil())
                #expect(try String(from: list.superDecoder()) == "s")
                #expect(try list.decode(JSONValue.self) == ["x": 1e3])
                #expect(list.isAtEnd)
            }
        }
        _ = try JSONValue(parsing: #"{"o":{"n":null},"l":[[],{},1,null,"s",{"x":1e3}]}"#).decode(Walk.self)
    }

    @Test func `of JSONValue values works with other coders`() throws {
        let value: JSONValue = ["a": [1, 2.5, nil, true, "s", [:], []]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
        #expect(try value.decode(JSONValue.self) == value)
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "18446744073709551617",
        "170141183460469231731687303715884105727",
    ])
    func `of a JSONValue with another decoder keeps the digits of a wide integer`(text: String) throws {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data("[\(text)]".utf8))
        #expect(value.array?.first?.number?.text == text)
    }
}
