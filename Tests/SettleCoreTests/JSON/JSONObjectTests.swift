import Testing

@testable import SettleCore

@Suite struct `JSONValue objects` {
    @Test(arguments: [
        (#"{"a":1,"b":2,"a":3}"#, #"{"b":2,"a":3}"#), (#"{"a":1,"a":2,"a":3}"#, #"{"a":3}"#),
        (#"{"a":1,"b":1,"a":2,"b":2}"#, #"{"a":2,"b":2}"#), (#"{"b":1,"a":1,"b":2,"c":3}"#, #"{"a":1,"b":2,"c":3}"#),
        (#"{"a":{"x":1,"x":2},"\u0061":0}"#, #"{"a":0}"#),
        (
            #"{"k":0,"1":1,"2":2,"3":3,"4":4,"k":5,"6":6,"7":7,"8":8,"9":9,"1":10}"#,
            #"{"2":2,"3":3,"4":4,"k":5,"6":6,"7":7,"8":8,"9":9,"1":10}"#
        ),
    ])
    func `keep the last of duplicate members, at its own place`(text: String, expected: String) throws {
        #expect(try JSONValue(parsing: text).description == expected)
    }

    @Test(arguments: 10...40)
    func `keep the last of duplicate members at any size`(count: Int) {
        let names = (0..<count).map { "k\($0 % (count - 3))" }
        let object = JSONObject(names.enumerated().map { ($0.element, .number(JSONNumber($0.offset))) })
        #expect(object.names == Array(names[3...]))
        for (index, name) in Array(names.enumerated())[3...] { #expect(object[name]?.int == index) }
    }

    @Test(arguments: [0, 1, 7, 15, 16, 17, 18, 40])
    func `find, replace, add and remove members at any size`(count: Int) {
        var object = JSONObject((0..<count).map { ("k\($0)", .number(JSONNumber($0))) })
        #expect(object.count == count)
        #expect(object.isEmpty == (count == 0))
        for index in 0..<count { #expect(object["k\(index)"]?.int == index) }
        #expect(object["k"] == nil)
        for index in 0..<count { object["k\(index)"] = .number(JSONNumber(-index)) }
        object["new"] = true
        #expect(object.names == (0..<count).map { "k\($0)" } + ["new"])
        object["none"] = nil
        for index in 0..<count where index % 2 == 0 { object["k\(index)"] = nil }
        #expect(object.names == (0..<count).filter { $0 % 2 == 1 }.map { "k\($0)" } + ["new"])
        for index in 0..<count { #expect(object["k\(index)"]?.int == (index % 2 == 1 ? -index : nil)) }
        #expect(object.map(\.name) == object.names)
    }

    @Test(arguments: [0, 20])
    func `tell names of different bytes apart`(others: Int) throws {
        var object = JSONObject((0..<others).map { ("k\($0)", nil) })
        object["\u{E9}"] = 1
        object["e\u{301}"] = 2
        #expect(object.count == others + 2)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(try JSONValue(parsing: text).description.utf8.elementsEqual(text.utf8))
    }

    @Test func `differ when their strings differ in bytes`() {
        #expect(JSONValue.string("\u{E9}") != JSONValue.string("e\u{301}"))
        #expect(JSONValue.array(["\u{E9}"]) != JSONValue.array(["e\u{301}"]))
        #expect(JSONValue.object(["\u{E9}": 1]) != JSONValue.object(["e\u{301}": 1]))
        #expect(JSONValue.object(["a": "\u{E9}"]) != JSONValue.object(["a": "e\u{301}"]))
        #expect(Set<JSONValue>(["\u{E9}", "e\u{301}", "\u{E9}"]).count == 2)
    }

    @Test(arguments: 1...40)
    func `differ wherever one byte of a string does`(length: Int) {
        let text = String(repeating: "-", count: length)
        #expect(JSONValue.string(text) == JSONValue.string(String(decoding: Array(text.utf8), as: UTF8.self)))
        #expect(JSONValue.string(text) != JSONValue.string(text + "-"))
        for place in 0..<length {
            var bytes = Array(text.utf8)
            bytes[place] = UInt8(ascii: "+")
            let other = String(decoding: bytes, as: UTF8.self)
            #expect(JSONValue.string(text) != JSONValue.string(other))
            #expect(JSONObject([(text, 1), (other, 2)]).count == 2)
        }
    }

    @Test func `are equal with the same members in the same order`() {
        let object: JSONValue = ["a": 1, "b": [true, nil]]
        #expect(object == ["a": 1, "b": [true, nil]])
        #expect(object.hashValue == JSONValue.object(["a": 1, "b": [true, nil]]).hashValue)
        #expect(object != ["b": [true, nil], "a": 1])
        #expect(object != ["a": 1.0, "b": [true, nil]])
        #expect(object != ["a": 1])
    }
}
