import Testing

@testable import SettleCore

@Suite struct `JSONValue values` {
    @Test func `are written as literals`() {
        let value: JSONValue = [
            "n": nil, "t": true, "i": -3, "f": 2.5, "s": "x", "a": [1, "b"], "o": ["p": [:]], "e": [],
        ]
        let text = #"{"n":null,"t":true,"i":-3,"f":2.5,"s":"x","a":[1,"b"],"o":{"p":{}},"e":[]}"#
        #expect(value.description == text)
        let doubled: JSONValue = ["a": 1, "b": 2, "a": 3]
        #expect(doubled.description == #"{"b":2,"a":3}"#)
        let large: JSONValue = 1e300
        #expect(large.description == "1e+300")
    }

    @Test func `return their content as its own type, and nil for any other`() {
        let all: [JSONValue] = [nil, true, 1, 1.5, "s", [1], ["a": 1]]
        #expect(all.map(\.isNull) == [true, false, false, false, false, false, false])
        #expect(all.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(all.map(\.int) == [nil, nil, 1, nil, nil, nil, nil])
        #expect(all.map(\.double) == [nil, nil, 1, 1.5, nil, nil, nil])
        #expect(all.map { $0.number?.text } == [nil, nil, "1", "1.5", nil, nil, nil])
        #expect(all.map(\.string) == [nil, nil, nil, nil, "s", nil, nil])
        #expect(all.map(\.array) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(all.map(\.object) == [nil, nil, nil, nil, nil, nil, ["a": 1]])
    }

    @Test func `are read by name and index`() {
        let value: JSONValue = ["list": [10, ["x": "y"]]]
        #expect(value["list"]?[1]?["x"] == "y")
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["none"] == nil)
        #expect(value[0] == nil)
        #expect(value["list"]?["x"] == nil)
    }

    @Test func `are changed by name`() {
        var value: JSONValue = 5
        value["a"] = 1
        value["b"] = ["c": 2]
        value["b"]?["c"] = 3
        value["b"]?["d"] = 4
        value["a"] = nil
        #expect(value.description == #"{"b":{"c":3,"d":4}}"#)
    }

    @Test(.timeLimit(.minutes(10))) func `change many members in time that grows with their number`() {
        var value: JSONValue = [:]
        for index in 0..<20_000 { value["member \(index)"] = .number(JSONNumber(index)) }
        #expect(value.object?.count == 20_000)
    }

    @Test func `read an empty buffer as an end`() {
        let error = #expect(throws: JSONError.self) { try JSONValue(utf8: UnsafeBufferPointer(start: nil, count: 0)) }
        #expect(error?.code == .unexpectedEnd)
    }
}
