import Settle
import Testing

@Suite struct DocumentTests {
    @Test func `a member is set, replaced and removed in place`() throws {
        var document = Document(id: "a", body: ["x": 1, "y": 2, "z": 3])
        document["y"] = "new"
        document["x"] = nil
        document["w"] = nil
        document["v"] = true
        #expect(try document.body().description == #"{"y":"new","z":3,"v":true}"#)
        #expect(document["x"] == nil)
        document.json = ["only": 1]
        #expect(try document.body() == ["only": 1])
        document.setBody(["again": 2])
        #expect(document["again"] == 2)
    }

    @Test func `a body that is not an object is empty`() throws {
        var document = Document(id: "a", body: ["x": 1])
        document.json = [1, 2]
        #expect(try document.body() == .empty)
    }

    @Test func `equality compares the content, however it is stored`() {
        var one = Document(id: "a", body: ["x": 1])
        let two = Document(id: "a", body: ["x": 1])
        one["x"] = 1
        #expect(one == two)
        one["x"] = 2
        #expect(one != two)
        #expect(two != Document(id: "b", body: ["x": 1]))
    }
}
