import Testing

@testable import SettleCore
@testable import SettleDatabase

@Suite struct `Errors of decoding from JSONValue` {
    /// The kind of error and its coding path, names and indexes joined by slashes.
    private func failure<T: Decodable>(_ text: String, as type: T.Type) throws -> String? {
        let json = try JSONValue(parsing: text)
        func shown(_ kind: String, _ context: DecodingError.Context) -> String {
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            return ([kind] + path).joined(separator: "/")
        }
        do {
            _ = try json.decode(type)
            return nil
        } catch DecodingError.typeMismatch(_, let context) {
            return shown("type", context)
        } catch DecodingError.valueNotFound(_, let context) {
            return shown("null", context)
        } catch DecodingError.keyNotFound(let key, let context) {
            return shown("key " + key.stringValue, context)
        } catch DecodingError.dataCorrupted(let context) {
            return shown("data", context)
        }
    }

    private typealias One = CodingSample.One

    @Test func `name the place of another kind of value`() throws {
        #expect(try failure("1", as: String.self) == "type")
        #expect(try failure(#""1""#, as: Int.self) == "type")
        #expect(try failure("1", as: Bool.self) == "type")
        #expect(try failure("true", as: Double.self) == "type")
        #expect(try failure("true", as: Float.self) == "type")
        #expect(try failure("{}", as: [Int].self) == "type")
        #expect(try failure("[]", as: One<Int>.self) == "type")
        #expect(try failure(#"{"value":[1,"2"]}"#, as: One<[Int]>.self) == "type/value/1")
        #expect(
            try failure(#"{"value":{"a":[{"value":1}]}}"#, as: One<[String: [One<Bool>]]>.self)
                == "type/value/a/0/value")
        #expect(try failure(#"{"value":[]}"#, as: One<One<Int>>.self) == "type/value")
    }

    @Test func `name the place of null`() throws {
        #expect(try failure("null", as: Int.self) == "null")
        #expect(try failure("null", as: [Int].self) == "null")
        #expect(try failure("null", as: One<Int>.self) == "null")
        #expect(try failure(#"{"value":null}"#, as: One<String>.self) == "null/value")
        #expect(try failure("[true,null]", as: [Bool].self) == "null/1")
    }

    @Test func `name the key that is missing`() throws {
        #expect(try failure("{}", as: One<Int>.self) == "key value")
        #expect(try failure(#"{"value":{}}"#, as: One<One<Int>>.self) == "key value/value")
    }

    @Test(arguments: ["2.5", "1e-1", "1.00000000000000000001"])
    func `name a number that is not an integer`(text: String) throws {
        #expect(try failure("[\(text)]", as: [Int].self) == "data/0")
        #expect(try failure("[\(text)]", as: [Int128].self) == "data/0")
    }

    @Test func `name a number that does not fit`() throws {
        #expect(try failure("[128]", as: [Int8].self) == "data/0")
        #expect(try failure("[-1]", as: [UInt].self) == "data/0")
        #expect(try failure("[1e300]", as: [Int].self) == "data/0")
        #expect(try failure("[1e300]", as: [Float].self) == "data/0")
        #expect(try failure("[18446744073709551616]", as: [UInt64].self) == "data/0")
        #expect(try failure(String(repeating: "9", count: 400), as: Double.self) == "data")
        #expect(try failure(#"{"value":"three"}"#, as: One<CodingSample.Raw>.self) == "data/value")
    }

    @Test func `name the end of an array`() throws {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = try list.decode(Int.self)
                _ = try list.decode(Int.self)
            }
        }
        #expect(try failure("[[1,2],[3]]", as: [Pair].self) == "null/1/1")
    }
}
