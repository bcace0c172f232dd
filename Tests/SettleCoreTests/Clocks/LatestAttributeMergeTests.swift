import SettleCore
import Testing

@Suite struct LatestAttributeMergeTests {
    private func at(_ milliseconds: Int64, _ device: String = "a") throws -> AttributeClock {
        try #require(AttributeClock(milliseconds: milliseconds, device: device))
    }

    private func object(_ text: String) throws -> JSONObject { try #require(try JSONValue(parsing: text).object) }

    private func edited(
        _ document: JSONObject, _ text: String, at moment: Int64, _ device: String = "a"
    ) throws -> JSONObject {
        var clocked = ClockedDocument(document)
        clocked.stamp(try object(text), at: try at(moment, device))
        return clocked.document
    }

    private func merged(
        _ versions: [JSONObject], base: JSONObject? = nil, onClash: MergeRule = .winner
    ) throws -> JSONObject {
        try #require(LatestAttributeMerge.merge(versions, base: base, onClash: onClash)?.merged)
    }

    private func members(_ document: JSONObject) -> JSONObject { ClockedDocument(document).members.sorted }

    // SEMANTICS 157, 162
    @Test func `the later change of a member wins, and other members are not touched`() throws {
        let base = try edited([:], #"{"budget":40,"name":"Holidays"}"#, at: 1)
        let john = try edited(base, #"{"budget":50,"name":"Holiday 2015"}"#, at: 2)
        let marie = try edited(base, #"{"budget":40,"name":"Family Holidays"}"#, at: 3, "b")
        for versions in [[john, marie], [marie, john]] {
            let outcome = try #require(LatestAttributeMerge.merge(versions, base: nil))
            let merged = try #require(outcome.merged)
            #expect(try members(merged) == object(#"{"budget":50,"name":"Family Holidays"}"#))
            let decision = try #require(outcome.decisions.first { $0.path == "/name" })
            #expect(decision.reason == .latest(versions[0] == marie ? 0 : 1))
            #expect(decision.reason.explained { "\($0)" }.hasSuffix("changed it last"))
        }
    }

    // SEMANTICS 158
    @Test func `a tie between equal clocks is broken the same way on every replica`() throws {
        let one = try edited([:], #"{"a":1}"#, at: 5, "a")
        let other = try edited([:], #"{"a":2}"#, at: 5, "b")
        let restored = try edited([:], #"{"a":3}"#, at: 5, "a")
        let gone = try edited(try edited([:], #"{"a":1}"#, at: 4, "a"), "{}", at: 5, "a")
        #expect(try members(merged([one, other])) == ["a": 2] && members(merged([other, one])) == ["a": 2])
        #expect(try members(merged([one, restored])) == ["a": 3] && members(merged([restored, one])) == ["a": 3])
        #expect(try members(merged([gone, one])) == ["a": 1] && members(merged([one, gone])) == ["a": 1])
    }

    @Test func `a removal survives an older change and yields to a newer one`() throws {
        let base = try edited([:], #"{"a":1,"b":1}"#, at: 1)
        let removed = try edited(base, "{}", at: 5)
        let older = try edited(base, #"{"a":2,"b":1}"#, at: 3, "b")
        let newer = try edited(base, #"{"a":2,"b":1}"#, at: 7, "b")
        #expect(try members(merged([removed, older])) == [:])
        #expect(try members(merged([older, removed])) == [:])
        #expect(try members(merged([removed, newer])) == ["a": 2])
    }

    // SEMANTICS 153
    @Test func `a change back to the old value counts with its own clock`() throws {
        let base = try edited([:], #"{"a":1}"#, at: 1)
        let back = try edited(try edited(base, #"{"a":2}"#, at: 4), #"{"a":1}"#, at: 6)
        let other = try edited(base, #"{"a":3}"#, at: 5, "b")
        #expect(try members(merged([back, other], base: base)) == ["a": 1])
    }

    @Test func `nested objects merge by member, and a value that replaced an object by its clock`() throws {
        let base = try edited([:], #"{"o":{"x":1,"y":1}}"#, at: 1)
        let inner = try edited(base, #"{"o":{"x":2,"y":1}}"#, at: 3)
        let other = try edited(base, #"{"o":{"x":1,"y":2}}"#, at: 4, "b")
        let replacedEarly = try edited(base, #"{"o":"big"}"#, at: 2, "b")
        let replacedLate = try edited(base, #"{"o":"big"}"#, at: 5, "b")
        #expect(try members(merged([inner, other])) == object(#"{"o":{"x":2,"y":2}}"#))
        #expect(try members(merged([inner, replacedEarly])) == object(#"{"o":{"x":2}}"#))
        #expect(try members(merged([inner, replacedLate])) == object(#"{"o":"big"}"#))
        let made = try edited([:], #"{"o":{"x":1}}"#, at: 1)
        let madeApart = try edited([:], #"{"o":{"y":2}}"#, at: 2, "b")
        #expect(try members(merged([made, madeApart])) == object(#"{"o":{"x":1,"y":2}}"#))
    }

    @Test func `a member changed by a foreign edit is merged by the base, the others by their clocks`() throws {
        let base = try edited([:], #"{"a":1,"b":1,"c":1}"#, at: 1)
        var foreign = base
        foreign["a"] = 2
        let edit = try edited(base, #"{"a":1,"b":2,"c":1}"#, at: 5, "b")
        let result = try merged([foreign, edit], base: base)
        #expect(members(result) == ["a": 2, "b": 2, "c": 1])
        #expect(try ClockedDocument(result)["b"] == at(5, "b") && ClockedDocument(result)["a"] == nil)
        // Without the base it is unknown who changed `a`.
        #expect(LatestAttributeMerge.merge([foreign, edit], base: nil) == nil)
    }

    @Test func `a foreign edit and a stamped edit of one member clash, and the rule decides`() throws {
        let base = try edited([:], #"{"a":1}"#, at: 1)
        var foreign = base
        foreign["a"] = 2
        let edit = try edited(base, #"{"a":3}"#, at: 5, "b")
        #expect(try members(merged([foreign, edit], base: base)) == ["a": 2])
        let kept = try merged([edit, foreign], base: base)
        #expect(kept == edit)
        let left = try #require(LatestAttributeMerge.merge([foreign, edit], base: base, onClash: .leave))
        #expect(left.merged == nil && left.left == ["/a"])
    }

    @Test func `a member that foreign software removed stays removed`() throws {
        let base = try edited([:], #"{"a":1,"b":1}"#, at: 1)
        var foreign = base
        foreign["a"] = nil
        let edit = try edited(base, #"{"a":1,"b":2}"#, at: 5, "b")
        let result = try merged([edit, foreign], base: base)
        #expect(members(result) == ["b": 2])
        let late = try edited(base, #"{"a":1,"b":1,"c":1}"#, at: 3, "c")
        #expect(try members(merged([result, late], base: base)) == ["b": 2, "c": 1])
    }

    // SEMANTICS 159
    @Test func `a merge of a foreign edit and a later clock gets a clock after both`() throws {
        let base = try edited([:], #"{"a":1,"o":{"x":1}}"#, at: 1)
        let ahead = try edited(base, #"{"a":9,"o":"text"}"#, at: 9000, "b")
        var foreign = base
        foreign["a"] = 2
        foreign["o"] = ["x": 2]
        for versions in [[foreign, ahead], [ahead, foreign]] {
            let result = try merged(versions, base: base)
            let expected = try versions[0] == foreign ? object(#"{"a":2,"o":{"x":2}}"#) : object(#"{"a":9,"o":"text"}"#)
            #expect(members(result) == expected)
            let next = ClockedDocument(try edited(result, #"{"a":3,"o":{"x":3,"y":3}}"#, at: 5, "c"))
            let moments = [next["a"], next["o", "x"], next["o", "y"]].map { $0?.description }
            #expect(moments == ["9000-1-c", "9000-1-c", "9000-1-c"])
            let others = try merged([ahead, next.document], base: base)
            #expect(others["a"] == 3)
        }
    }

    @Test func `documents without clocks are merged three-way`() throws {
        let base: JSONObject = ["a": 1, "b": 1, "c": 1]
        let versions: [JSONObject] = [["a": 2, "b": 1, "c": 1], ["a": 1, "c": 3, "d": 4], ["a": 3, "b": 1, "c": 1]]
        let expected = try #require(ThreeWayMerge.merge(base: base, versions: versions).merged)
        #expect(try members(merged(versions, base: base)) == expected.sorted)
    }

    // SEMANTICS 159
    @Test func `a hostile clock does not win against a change made on top of it`() throws {
        var hostile = try edited([:], #"{"a":1}"#, at: 1)
        let entry = try #require(hostile["$clocks"]?["/a"]?.string)
        let last = "\(AttributeClock.latest)-\(AttributeClock.maximumCounter)-zzz"
        hostile["$clocks"] = ["/a": .string(entry.replacing("1-0-a", with: last))]
        #expect(ClockedDocument(hostile)["a"]?.description == last)
        let edit = try edited(hostile, #"{"a":2}"#, at: 5, "b")
        for versions in [[hostile, edit], [edit, hostile]] {
            #expect(try members(merged(versions, base: hostile)) == ["a": 2])
        }
    }

    @Test func `many versions and members are merged within a time limit`() throws {
        var versions: [JSONObject] = []
        for version in 0..<8 {
            let members = (0..<5000).map { ("m\($0)", JSONValue.number(JSONNumber(version))) }
            var document = ClockedDocument(JSONObject())
            document.stamp(JSONObject(members), at: try at(Int64(version) + 1))
            versions.append(document.document)
        }
        #expect(try merged(versions) == versions[7])
    }
}
