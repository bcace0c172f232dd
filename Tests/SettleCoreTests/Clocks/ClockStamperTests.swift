import SettleTesting
import Testing

@testable import SettleCore

/// Stamping bytes gives the same result as stamping values.
struct ClockStamperTests {
    private struct Edits {
        var random: SeededRandom

        mutating func pick<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }

        mutating func value(_ depth: Int = 0) -> JSONValue {
            let spellings = [
                "1", "1.0", "-0", "0", "1e3", "12345678901234567890123", "0.1", #""""#, #""Milk""#, #""ä\n\"奶""#,
                "true",
                "false", "null", "[]", "{}", "[1,2,255]", #"[{"b":1,"a":[0.5,{}]}]"#,
            ]
            guard depth < 3, Int.random(in: 0..<3, using: &random) == 0 else {
                return (try? JSONValue(parsing: pick(spellings))) ?? .null
            }
            return .object(members(depth + 1))
        }

        mutating func members(_ depth: Int = 0) -> JSONObject {
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &random) { object[name(depth)] = value(depth) }
            return object
        }

        mutating func name(_ depth: Int) -> String {
            let names = ["a", "b", "a!", "ab", "ä", "c d", "A"]
            // Such names, and many members, are rare.
            guard Int.random(in: 0..<12, using: &random) == 0 else { return pick(names) }
            return pick(["x/y", "~", "q\"", "", "tab\t", "$", "n\(Int.random(in: 0..<60, using: &random))"])
        }

        mutating func edit(_ object: JSONObject) -> JSONObject {
            var object = object
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let name = object.names.isEmpty || Bool.random(using: &random) ? self.name(0) : pick(object.names)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: object[name] = nil
                case 1: object[name] = object[name]?.object.map { .object(edit($0)) } ?? value()
                case 2 where Int.random(in: 0..<20, using: &random) == 0:
                    for number in 0..<40 { object["n\(number)"] = .number(JSONNumber(number)) }
                default: object[name] = value()
                }
            }
            return object
        }
    }

    private func clock(_ milliseconds: Int64, _ device: String) throws -> AttributeClock {
        try #require(AttributeClock(milliseconds: milliseconds, device: device))
    }

    @Test(arguments: 0..<300)
    func `stamping bytes and stamping values give the same clocks, for edits of all kinds`(seed: UInt64) throws {
        var edits = Edits(random: SeededRandom(seed: SeededRandom.mix(seed)))
        var members = edits.members()
        var parent: DocumentBody?
        for step in 0..<25 {
            members[ClockedDocument.memberName] = Bool.random(using: &edits.random) ? parent?["$clocks"] : nil
            let body = try DocumentBody(.object(members))
            let moment = try clock(
                Int64.random(in: 0..<100, using: &edits.random) + Int64(step), edits.pick(["a", "b"]))
            let stamped = try ClockedDocument.stamped(body, on: parent, at: moment)
            let expected = try ClockedDocument.stampedByValues(body, on: parent, at: moment)
            #expect(
                stamped["$clocks"] == expected["$clocks"], "seed \(seed), step \(step): \(body) on \(parent ?? .empty)")
            #expect(stamped["$clocks"]?.object?.names == expected["$clocks"]?.object?.names)
            #expect(stamped.json == expected.json)
            #expect(try DocumentBody(utf8: stamped.utf8) == stamped)
            var next = stamped.json.object ?? JSONObject()
            if Int.random(in: 0..<4, using: &edits.random) == 0 { next = try disturbed(next, &edits) }
            parent = try DocumentBody(.object(next))
            next[ClockedDocument.memberName] = nil
            members = edits.edit(next)
        }
    }

    /// Changes a document as software does that ignores clocks, or invents them.
    private func disturbed(_ document: JSONObject, _ edits: inout Edits) throws -> JSONObject {
        let clocks = document[ClockedDocument.memberName]
        var document = edits.edit(document)
        document[ClockedDocument.memberName] = clocks
        guard Int.random(in: 0..<3, using: &edits.random) == 0, var entries = clocks?.object else { return document }
        let path = edits.pick(["/a", "/b", "/a/b", "/gone", "", "b", "/a/b/c", "/~0", "/a!"])
        entries[path] = edits.pick([
            "?", "7-0-z 00000000", "80-0-z ?", "5-0-a ?", "nonsense", 7, "9999-1-a 12345678", "07-0-a 00000000",
            "7-0-ä 00000000",
        ])
        document[ClockedDocument.memberName] = edits.pick([.object(entries), .object(entries), nil, "none"])
        return document
    }

    @Test func `an ordinary edit is stamped from its bytes`() throws {
        let body = try #"{"name":"Milk","size":1,"o":{"a":1},"l":[1,"x"]}"#.body
        let first = try #require(ClockStamper.stamp(body, on: .empty, at: clock(5, "a")))
        #expect(try first == ClockedDocument.stampedByValues(body, on: nil, at: clock(5, "a")))
        let edited = try #"{"name":"Milk","size":2,"o":{"a":1}}"#.body
        let second = try #require(ClockStamper.stamp(edited, on: first, at: clock(8, "a")))
        #expect(second["$clocks"]?["/name"] == first["$clocks"]?["/name"])
        #expect(second["$clocks"]?["/l"] == "8-0-a 00000000")
        #expect(second["$clocks"]?["/size"]?.string?.hasPrefix("8-0-a ") == true)
    }

    @Test func `entries are ordered by path, whatever escapes the paths contain`() throws {
        let body = try ##"{"o":{"q]":1,"q\\":1,"q\"":1,"qA":1}}"##.body
        let stamped = try ClockedDocument.stamped(body, on: nil, at: clock(5, "a"))
        #expect(try stamped == ClockedDocument.stampedByValues(body, on: nil, at: clock(5, "a")))
        let edited = try ClockedDocument.stamped(
            ##"{"o":{"q\"":2,"qA":1,"o":""}}"##.body, on: stamped, at: clock(8, "a"))
        #expect(edited["$clocks"]?.object?.names == ["/o/o", "/o/q\"", "/o/qA", "/o/q\\", "/o/q]"])
    }

    @Test(arguments: [
        "", "{", #"{"a":1"#, #"{"a":"#, #"{"a":"x"#, #"{"$clocks":{"/a":"7"#, "[1]", #"{"a":[1,"#,
        #"{"a":1,"$clocks":{"/a":"}}"#,
    ])
    func `a damaged parent is not read past its end`(text: String) throws {
        let damaged = DocumentBody(unchecked: Array(text.utf8))
        let (body, moment) = (try #"{"a":2}"#.body, try clock(1, "a"))
        #expect(ClockStamper.stamp(body, on: damaged, at: moment) == nil)
        #expect(ClockStamper.stamp(damaged, on: .empty, at: moment) == nil)
    }
}

extension String {
    fileprivate var body: DocumentBody { get throws { try DocumentBody(parsing: self) } }
}
