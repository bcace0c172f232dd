import SettleCore
import Testing

@Suite struct ClockedDocumentTests {
    private func at(_ milliseconds: Int64, _ device: String = "a") throws -> AttributeClock {
        try #require(AttributeClock(milliseconds: milliseconds, device: device))
    }

    private func object(_ text: String) throws -> JSONObject { try #require(try JSONValue(parsing: text).object) }

    private func stamped(_ steps: (String, Int64)...) throws -> ClockedDocument {
        var document = JSONObject()
        for (text, moment) in steps {
            var clocked = ClockedDocument(document)
            clocked.stamp(try object(text), at: try at(moment))
            document = clocked.document
        }
        return ClockedDocument(document)
    }

    @Test func `a changed member gets the new clock, and an unchanged one keeps its own`() throws {
        let document = try stamped((#"{"name":"Milk","size":1}"#, 5), (#"{"name":"Milk","size":2}"#, 8))
        #expect(try document["name"] == at(5))
        #expect(try document["size"] == at(8))
        #expect(try document.newest == at(8))
        #expect(try document.members == object(#"{"name":"Milk","size":2}"#))
    }

    @Test func `objects are stamped member by member, arrays as a whole`() throws {
        let document = try stamped(
            (#"{"o":{"a":1,"b":{"c":[1,2],"d":1}}}"#, 1), (#"{"o":{"a":1,"b":{"c":[1,3],"d":1}}}"#, 2))
        #expect(try document["o", "a"] == at(1))
        #expect(try document["o", "b", "c"] == at(2))
        #expect(try document["o", "b", "d"] == at(1))
        #expect(document["o"] == nil)
    }

    @Test func `a removed member keeps a clock`() throws {
        let document = try stamped((#"{"a":1,"b":2}"#, 1), (#"{"b":2}"#, 2))
        #expect(try document["a"] == at(2))
        #expect(document.document["$clocks"]?["/a"] == "2-0-a 00000000")
    }

    @Test func `the clocks are the last member, in the order of their paths`() throws {
        let document = try stamped((#"{"z":1,"a~/b":{"c":""},"e":{}}"#, 1)).document
        #expect(document.names == ["z", "a~/b", "e", "$clocks"])
        #expect(document["$clocks"]?.object?.names == ["/a~0~1b/c", "/e", "/z"])
        #expect(try ClockedDocument(document)["a~/b", "c"] == at(1))
    }

    @Test func `removing an object removes the clocks inside it, and older changes to it stay without effect`() throws {
        let map = try stamped(
            (#"{"map":{"a":1,"b":2}}"#, 1), (#"{"map":{"b":2}}"#, 3), ("{}", 4), (#"{"map":{"c":1}}"#, 5))
        #expect(map.document["$clocks"]?.object?.names == ["/map", "/map/c"])
        let apart = try stamped((#"{"map":{"a":1,"b":2}}"#, 1), (#"{"map":{"a":5,"b":2}}"#, 2))
        for versions in [[map, apart], [apart, map]] {
            let merged = LatestAttributeMerge.merge(versions.map(\.document), base: nil)?.merged
            #expect(try merged.map { ClockedDocument($0).members } == object(#"{"map":{"c":1}}"#))
        }
    }

    // SEMANTICS 159
    @Test func `a change gets a later clock than the value it replaces, whatever the device's clock reads`() throws {
        var document = try stamped((#"{"far":1,"o":{"in":1}}"#, 9000))
        document.stamp(try object(#"{"far":2,"o":1,"new":1}"#), at: try at(5, "b"))
        let read = ClockedDocument(document.document)
        #expect(read["far"]?.description == "9000-1-b")
        #expect(read["o"]?.description == "9000-1-b")
        #expect(read["new"]?.description == "5-0-b")
    }

    // SEMANTICS 159
    @Test func `a change gets a later clock than the same member in other known leaves`() throws {
        let other = try stamped((#"{"a":1,"o":{"x":1}}"#, 9000))
        let deleted = ClockedDocument(other.tombstone(keeping: [:], at: try at(9500)), isDeleted: true)
        var document = try stamped((#"{"a":5,"b":5,"o":{"x":5}}"#, 10))
        document.stamp(try object(#"{"a":6,"b":6,"o":{"x":6}}"#), at: try at(20, "b"), inSightOf: [other])
        #expect(document["a"]?.description == "9000-1-b" && document["o", "x"]?.description == "9000-1-b")
        #expect(document["b"]?.description == "20-0-b")
        document.stamp(try object(#"{"b":7}"#), at: try at(30, "b"), inSightOf: [other, deleted])
        #expect(document["b"]?.description == "9500-1-b" && document["a"]?.description == "9500-1-b")
        let tombstone = document.tombstone(keeping: [:], at: try at(40, "c"), inSightOf: [deleted])
        #expect(ClockedDocument(tombstone, isDeleted: true).deletion?.description == "9500-2-c")
    }

    @Test func `a foreign edit is detected by the members it changed`() throws {
        var document = try stamped((#"{"a":1,"b":1,"c":1,"o":{"x":1}}"#, 1)).document
        document["a"] = 2
        document["b"] = nil
        document["new"] = 1
        document["o"] = ["x": 1, "y": 2]
        let read = ClockedDocument(document)
        #expect(read["a"] == nil && read["b"] == nil && read["new"] == nil && read["o", "y"] == nil)
        #expect(try read["c"] == at(1) && read["o", "x"] == at(1))
        // After the next save it is still known as a foreign edit.
        var next = read
        next.stamp(read.members, at: try at(7))
        #expect(ClockedDocument(next.document)["a"] == nil)
        #expect(next.document["$clocks"]?["/b"] == "1-0-a ?" && next.document["$clocks"]?["/a"] == "1-0-a ?")
        #expect(ClockedDocument(next.document).document == next.document)
    }

    // SEMANTICS 159
    @Test func `a change is later than the value before a foreign edit, also with saves in between`() throws {
        let apart = try stamped((#"{"a":1,"b":1,"o":{"x":1},"p":1}"#, 9000)).document
        var foreign = apart
        for (name, value) in [("a", 2), ("b", nil), ("o", "text"), ("p", ["x": 1])] as [(String, JSONValue?)] {
            foreign[name] = value
        }
        let edited = try object(#"{"a":3,"b":3,"o":{"x":3},"p":{"x":3}}"#)
        for saves in 0..<3 {
            var document = ClockedDocument(foreign)
            for save in 0..<saves {
                var members = document.members
                members["other"] = .number(JSONNumber(save))
                document.stamp(members, at: try at(5, "b"))
                document = ClockedDocument(document.document)
            }
            let between = document.document
            document.stamp(edited, at: try at(7, "b"))
            for path in [["a"], ["b"], ["o", "x"], ["p", "x"]] {
                let name = path[0]
                let moment = path.count == 1 ? document[name] : document[name, path[1]]
                #expect(moment?.description == "9000-1-b", "\(path) after \(saves) saves")
            }
            #expect(
                try ClockedDocument.stamped(
                    DocumentBody(.object(edited)), on: DocumentBody(.object(between)), at: at(7, "b")
                ).json.object == document.document)
            // A branch based on the earlier state does not win over the later one.
            for versions in [[document.document, apart], [apart, document.document]] {
                let merged = LatestAttributeMerge.merge(versions, base: apart)?.merged
                #expect(merged.map { ClockedDocument($0).members.sorted } == edited, "after \(saves) saves")
            }
        }
    }

    // SEMANTICS 159
    @Test func `a deletion or revival is later than a foreign edit or deletion before it`() throws {
        var foreign = try stamped((#"{"a":1}"#, 9000)).document
        foreign["a"] = 2
        let tombstone = ClockedDocument(foreign).tombstone(keeping: [:], at: try at(5, "b"))
        #expect(ClockedDocument(tombstone, isDeleted: true).deletion?.description == "9000-1-b")
        // Software that kept the members, clocks among them, deleted it.
        var revived = ClockedDocument(foreign, isDeleted: true)
        #expect(revived.deletion == nil && revived.newest == nil)
        revived.stamp(["a": 3], at: try at(5, "b"))
        #expect(revived["a"]?.description == "9000-1-b")
    }

    @Test(arguments: [
        (#"{"n":1000.0,"s":"\u00e9","o":[{"a":1,"b":2}],"z":0}"#, #"{"n":1e3,"s":"é","o":[{"b":2,"a":1}],"z":-0}"#),
        (#"{"n":1.0,"s":"/","o":[{"a":1.5,"b":2}],"z":0.0}"#, #"{"n":1,"s":"\/","o":[{"a":15e-1,"b":2.0}],"z":-0.0}"#),
    ])
    func `another spelling of a value is not a foreign edit`(written: String, read: String) throws {
        var document = ClockedDocument(JSONObject())
        document.stamp(try object(written), at: try at(1))
        var sent = try object(read)
        sent["$clocks"] = document.document["$clocks"]
        for name in ["n", "s", "o", "z"] { #expect(ClockedDocument(sent)[name] == (try at(1)), "\(name)") }
    }

    @Test func `a tombstone carries a clock, and a revival gets a later one`() throws {
        let document = try stamped((#"{"a":1}"#, 50))
        let tombstone = document.tombstone(keeping: ["kept": 1], at: try at(7, "b"))
        let deleted = ClockedDocument(tombstone, isDeleted: true)
        #expect(deleted.deletion?.description == "50-1-b")
        #expect(tombstone["kept"] == 1)
        var revived = deleted
        revived.stamp(["a": 2], at: try at(8))
        #expect(ClockedDocument(revived.document)["a"]?.description == "50-2-a")
        #expect(ClockedDocument(["kept": 1], isDeleted: true).deletion == nil)
    }

    @Test(arguments: [
        "1", "[]", #""x""#, "null", "{}", #"{"/a":1}"#, #"{"/a":"x"}"#, #"{"/a":"1-0-a"}"#, #"{"a":"1-0-a 00000000"}"#,
        #"{"/a":"1-0-a 0000000G"}"#, #"{"/a":"9999999999999-0-a 5d41402a"}"#, #"{"/a":"?"}"#, #"{"/~2":"?"}"#,
        #"{"":"5-0-a 00000000"}"#, #"{"/a":" ?"}"#, #"{"/a":"??"}"#, #"{"/a":"x ?"}"#, #"{"/a":"5-0-a?"}"#,
        #"{"/b/c/d":"5-0-a 00000000"}"#, #"{"/a":"1--1-a 00000000"}"#,
    ])
    func `malformed clocks are ignored`(clocks: String) throws {
        var document = try object(#"{"a":1,"b":{"c":2}}"#)
        document["$clocks"] = try JSONValue(parsing: clocks)
        var read = ClockedDocument(document)
        #expect(read["a"] == nil)
        #expect(try read.members == object(#"{"a":1,"b":{"c":2}}"#))
        read.stamp(["a": 2], at: try at(3))
        #expect(try ClockedDocument(read.document)["a"] == at(3))
    }

    @Test func `clocks that are too deep or too many are ignored`() throws {
        var clocks = JSONObject()
        clocks[String(repeating: "/a", count: 100_000)] = "5-0-a 00000000"
        for number in 0..<20_000 { clocks["/\(number)"] = "5-0-a 00000000" }
        var nested: JSONValue = 1
        for _ in 0..<900 { nested = .object(["a": nested]) }
        var document = ClockedDocument(["$clocks": .object(clocks), "a": nested])
        document.stamp(["a": nested, "b": 1], at: try at(9))
        let read = ClockedDocument(document.document)
        #expect(try read["b"] == at(9) && read["7"]?.milliseconds == 5)
    }
}
