import Testing

@testable import SettleCore
@testable import SettleDatabase

@Suite struct `Encoding to JSONValue` {
    private struct Shelf: Encodable {
        var zebra = 1
        var apple: String? = "a"
        var none: Int? = nil
        var mango = [1.5, 2]
        var inner = ["b": 1, "a": 2, "\u{E9}": 3, "z": 4, "e\u{302}": 5]
    }

    private func text(_ value: some Encodable) throws -> String { try JSONValue(encoding: value).description }

    @Test func `keeps the order of declaration, and sorts dictionaries by the bytes of their keys`() throws {
        let expected =
            #"{"zebra":1,"apple":"a","mango":[1.5,2.0],"inner":{"a":2,"b":1,"e\#u{302}":5,"z":4,"\#u{E9}":3}}"#
        #expect(try text(Shelf()).utf8.elementsEqual(expected.utf8))
    }

    @Test func `writes every kind of number exactly`() throws {
        #expect(try text([Int8.min, .max]) == "[-128,127]")
        #expect(try text([UInt64.max]) == "[18446744073709551615]")
        #expect(try text([Int128.min]) == "[-170141183460469231731687303715884105728]")
        let widest = "340282366920938463463374607431768211455"
        #expect(try text([UInt128.max]) == "[\(widest)]")
        #expect(try text(CodingSample.One(value: UInt128.max)) == #"{"value":\#(widest)}"#)
        #expect(try text([Float(0.1), 16_777_216, 1e20]) == "[0.1,16777216.0,100000000000000000000.0]")
        #expect(try text([0.1, 1e22, -0.0]) == "[0.1,1e+22,-0.0]")
        #expect(try text([UInt8](0...3)) == "[0,1,2,3]")
        #expect(try text(7) == "7")
        #expect(try text(Int128(7)) == "7")
    }

    @Test func `writes single values, nil and empty containers`() throws {
        #expect(try text("x") == #""x""#)
        #expect(try text(true) == "true")
        #expect(try text(Int?.none) == "null")
        #expect(try text([Int?.none, 1]) == "[null,1]")
        #expect(try text([String: Int]()) == "{}")
        #expect(try text([Int]()) == "[]")
        #expect(try text(CodingSample.Empty()) == "{}")
        #expect(try text([CodingSample.Silent()]) == "[{}]")
        #expect(try text(CodingSample.Raw.two) == #""two""#)
    }

    @Test func `writes enums with payloads and dictionaries with other keys`() throws {
        #expect(try text(CodingSample.Kind.plain) == #"{"plain":{}}"#)
        #expect(try text(CodingSample.Kind.pair(1, name: "n")) == #"{"pair":{"_0":1,"name":"n"}}"#)
        #expect(try text([10: true, 9: false, 1: true]) == #"{"1":true,"10":true,"9":false}"#)
        #expect(try text([CodingSample.Raw.one: 1]) == #"["one",1]"#)
    }

    @Test func `puts a superclass where its subclass wants it`() throws {
        #expect(try text(CodingSample.Dog(superKey: false)) == #"{"super":{"legs":4},"name":"Rex"}"#)
        #expect(try text(CodingSample.Dog(superKey: true)) == #"{"kennel":{"legs":4},"name":"Rex"}"#)
    }

    @Test func `keeps the place of a container that is filled later`() throws {
        struct Later: Encodable {
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: JSONCodingKey.self)
                var list = outer.nestedUnkeyedContainer(forKey: "list")
                var object = outer.nestedContainer(keyedBy: JSONCodingKey.self, forKey: "object")
                try outer.encode("last", forKey: "z")
                try list.encode(1)
                try object.encode(true, forKey: "b")
                var inner = list.nestedUnkeyedContainer()
                var element = list.nestedContainer(keyedBy: JSONCodingKey.self)
                try element.encodeNil(forKey: "n")
                try inner.encode(Float(2))
                try JSONValue.string("super").encode(to: list.superEncoder())
                var again = outer.nestedContainer(keyedBy: JSONCodingKey.self, forKey: "object")
                try again.encode(2, forKey: "a")
                try outer.encode("first", forKey: "z")
                #expect(list.count == 4)
            }
        }
        #expect(
            try text(Later()) == #"{"list":[1,[2.0],{"n":null},"super"],"object":{"b":true,"a":2},"z":"first"}"#)
    }

    @Test func `takes JSONValue values as they are`() throws {
        let value: JSONValue = try JSONValue(parsing: #"{"b":1e3,"a":[100000000000000000000000000000000000000000]}"#)
        #expect(try text(["x": value]) == #"{"x":{"b":1e3,"a":[100000000000000000000000000000000000000000]}}"#)
    }
}

extension JSONCodingKey: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
