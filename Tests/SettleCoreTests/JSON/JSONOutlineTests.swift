import Testing

@testable import SettleCore

@Suite struct JSONOutlineTests {
    private func outline(_ text: String) throws -> (members: [String], elements: [String]?) {
        let bytes = Array(text.utf8)
        let outline = try JSONOutline(bytes, elementsOf: "docs")
        let spelled = { (range: Range<Int>) in String(decoding: bytes[range], as: UTF8.self) }
        return (outline.members.map { "\($0.name)=\(spelled($0.range))" }, outline.elements?.map(spelled))
    }

    @Test func `members and elements are found where they stand`() throws {
        let text =
            #" {"a": 1.5, "docs" : [ {"docs":[1,[2]]} , [3], "x\"y",-4,true,null,{}] , "b":{"docs":[5]}, "c" : false } "#
        let found = try outline(text)
        #expect(found.members.map { String($0.prefix(6)) } == ["a=1.5", "docs=[", "b={\"do", "c=fals"])
        #expect(found.members.last == "c=false")
        #expect(found.elements == [#"{"docs":[1,[2]]}"#, "[3]", #""x\"y""#, "-4", "true", "null", "{}"])
    }

    @Test(
        arguments: [
            ("{}", nil), (#"{"docs":[]}"#, []), (#"{"docs":5}"#, nil), (#"{"docs":{}}"#, nil),
            (#"{"docs":[1],"docs":[2,3]}"#, ["2", "3"]),
            (#"{"docs":[1],"docs":{"a":[9]}}"#, nil), (#"{"docs":[1],"docs":null}"#, nil),
            (#"{"d\u006fcs":["a"]}"#, ["\"a\""]),
            (#"{"x":[1],"docs":[[]],"y":[2]}"#, ["[]"]),
        ] as [(String, [String]?)])
    func `the last duplicate name counts, and only an array has elements`(text: String, elements: [String]?) throws {
        #expect(try outline(text).elements == elements)
    }

    @Test(arguments: ["", "[]", "5", "\"docs\"", "{", #"{"docs":[1,]}"#, #"{"docs":[1]}x"#])
    func `a text that is not an object is refused`(text: String) {
        #expect(throws: JSONError.self) { try outline(text) }
    }
}
