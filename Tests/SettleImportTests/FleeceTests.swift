import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

/// Values of Couchbase Lite, as JSON.
@Suite struct FleeceTests {
    private func json(_ bytes: [UInt8], base: [UInt8] = [], keys: [String] = []) throws -> JSONValue {
        try JSONValue(utf8: Fleece(bytes, base: base, sharedKeys: keys).json().text)
    }

    @Test(arguments: 0..<300) func `a value that is written reads to itself`(seed: UInt64) throws {
        var numbers = SeededRandom(seed: seed)
        let value = numbers.object(depth: 5)
        let keys = (value.object ?? [:]).names.filter { _ in numbers.below(2) == 0 }
        let bytes = FleeceWriter.write(value, sharedKeys: keys, isWide: numbers.below(3) == 0)
        #expect(try json(bytes, keys: keys) == value, "seed \(seed)")
    }

    @Test(arguments: [
        "0", "-1", "2047", "-2048", "2048", "-2049", "255", "65535", "-32769", "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807", "18446744073709551615", "1.5", "-0.1", "1e+300", "null", "true", "false", "\"\"",
        "\"é😄\"",
        "[]", "{}", "[[],{}]", #"{"a":{"b":[1,2,{"c":null}]}}"#,
    ])
    func `a kind of value reads to itself`(text: String) throws {
        let value = try JSONValue(parsing: "[\(text)]")
        #expect(try json(FleeceWriter.write(value)).description == value.description)
    }

    @Test(arguments: [2046, 2047, 2048, 40_000]) func `a container of any length reads to itself`(count: Int) throws {
        let array = JSONValue.array((0..<count).map { .number(JSONNumber($0)) })
        #expect(try json(FleeceWriter.write(array)) == array)
        let object = JSONValue.object(JSONObject((0..<count).map { ("key \($0)", .number(JSONNumber($0))) }))
        #expect(try json(FleeceWriter.write(object)) == object)
    }

    @Test func `a short float is printed in as few digits as it needs`() throws {
        // 0.1 as 32 bits, in an array.
        #expect(try json([0x20, 0, 0xCD, 0xCC, 0xCC, 0x3D, 0x60, 1, 0x80, 4, 0x80, 2]).description == "[0.1]")
        // The same bits with the mark of a double.
        let double = try json([0x24, 0, 0xCD, 0xCC, 0xCC, 0x3D, 0x60, 1, 0x80, 4, 0x80, 2])
        #expect(double.description == "[0.10000000149011612]")
    }

    @Test func `a number that is not finite is null and reported`() throws {
        let bytes: [UInt8] = [0x20, 0, 0, 0, 0x80, 0x7F, 0x60, 1, 0x80, 4, 0x80, 2]
        let result = try Fleece(bytes).json()
        #expect(result.hasLostNumber && result.text == Array("[null]".utf8))
    }

    @Test func `data is base64 and undefined is left out`() throws {
        let data = FleeceWriter.data([1, 2, 3])
        // {"a": data, "b": undefined}
        let bytes = data + [0x70, 2, 0x41, 0x61, 0x80, 4, 0x41, 0x62, 0x3C, 0, 0x80, 5]
        #expect(try json(bytes).description == #"{"a":"AQID"}"#)
    }

    @Test func `a dictionary has the members of its parent`() throws {
        // The parent {"a": 1, "b": 2}, and a child that changes b, removes a and adds c.
        let parent: [UInt8] = [0x70, 2, 0x41, 0x61, 0, 1, 0x41, 0x62, 0, 2]
        let child: [UInt8] = [
            0x70, 4, 0x08, 0, 0x80, 7, 0x41, 0x61, 0x3C, 0, 0x41, 0x62, 0, 9, 0x41, 0x63, 0, 3, 0x80, 9,
        ]
        #expect(try json(parent + child).description == #"{"b":9,"c":3}"#)
    }

    @Test func `a dictionary has its parent's member whose name looks like that of its own`() throws {
        // The parent has the first shared key, the child the second one.
        let bytes: [UInt8] = [0x70, 1, 0, 0, 0, 1, 0x70, 2, 0x08, 0, 0x80, 5, 0, 1, 0, 2, 0x80, 5]
        // The same letter as one character, and as two.
        #expect(try json(bytes, keys: ["\u{E9}", "e\u{301}"]) == ["\u{E9}": 1, "e\u{301}": 2])
    }

    @Test func `an external pointer leads into the base`() throws {
        let base = FleeceWriter.write(["name": "value"])
        // An array of one pointer that leads 5 words back: over its header to the dictionary of the base, before its root.
        let root = base.count - 2
        let dictionary = root - 2 * (Int(base[root + 1]))
        let distance = UInt8((base.count + 2 - dictionary) / 2)
        #expect(try json([0x60, 1, 0xC0, distance, 0x80, 2], base: base) == [["name": "value"]])
        #expect(throws: FleeceError.self) { try json([0x60, 1, 0x80, distance, 0x80, 2], base: base) }
        #expect(throws: FleeceError.self) { try json([0x60, 1, 0xC0, distance, 0x80, 2]) }
    }

    @Test(
        arguments: [
            [], [0], [0x80, 0], [0x80, 1], [0x80, 9, 0x80, 2], [0x60, 1, 0x80, 1, 0x80, 2], [0x61, 0, 0x80, 1],
            [0x4F, 0xFF, 0xFF, 0xFF, 0x80, 2], [0x67, 0xFF, 0xFF, 0x7F, 0x80, 2], [0x70, 1, 0, 1, 0, 1, 0x80, 3],
            [0x43, 0xFF, 0xFE, 0x61, 0x60, 1, 0x80, 3, 0x80, 2], [0x33, 0, 0x80, 1], [0x68, 1, 0x80, 0, 0, 2, 0x80, 3],
            [0x70, 1, 0x30, 0, 0, 1, 0x80, 3], [0x70, 1, 0x08, 0, 0, 1, 0x80, 3], [0x17, 1, 2, 0, 0x80, 2],
        ] as [[UInt8]])
    func `bytes that are not a value are refused`(bytes: [UInt8]) {
        #expect(throws: FleeceError.self) { try Fleece(bytes).json() }
    }

    @Test func `a small value that unfolds to a huge one is refused`() {
        // Each array has the one before twice.
        var bytes: [UInt8] = [0x41, 0x61, 0x60, 2, 0x41, 0x61, 0x41, 0x61]
        for _ in 0..<60 { bytes += [0x60, 2, 0x80, 4, 0x80, 5] }
        bytes += [0x80, 3]
        #expect(throws: FleeceError.self) { try Fleece(bytes).json() }
        var deep: [UInt8] = [0x60, 0, 0x60, 1, 0x80, 2]
        for _ in 0..<5000 { deep += [0x60, 1, 0x80, 3] }
        #expect(throws: FleeceError.self) { try Fleece(deep + [0x80, 2]).json() }
    }

    @Test(arguments: 0..<200) func `changed bytes are a value or an error`(seed: UInt64) {
        var numbers = SeededRandom(seed: seed)
        let value = numbers.object(depth: 4)
        var bytes = FleeceWriter.write(value, sharedKeys: value.object?.names ?? [])
        for _ in 0...numbers.below(4) { bytes[numbers.below(bytes.count)] ^= UInt8(1 << numbers.below(8)) }
        bytes = Array(bytes.prefix(1 + numbers.below(2 * bytes.count)))
        // What is read is JSON.
        guard let read = try? Fleece(bytes, sharedKeys: value.object?.names ?? []).json() else { return }
        #expect(throws: Never.self, "seed \(seed)") { try JSONValue(utf8: read.text) }
    }
}
