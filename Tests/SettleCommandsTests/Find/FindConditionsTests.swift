import Settle
import SettleImport
import Testing

@testable import SettleCommands

struct FindConditionsTests {
    private func columns(_ selector: JSONValue, _ sort: String...) -> [String] {
        FindConditions(selector).columns(sortedBy: sort)
    }

    @Test func `a suggested index begins with members compared for equality`() {
        #expect(columns(["age": ["$gt": 30], "name": "Ann"]) == ["name", "age"])
        #expect(columns(["$and": [["a": ["$eq": 1]], ["b": ["$gt": 1, "$lt": 9]]]]) == ["a", "b"])
        #expect(columns(["age": ["$gt": 30], "city": "Brno"], "name", "age") == ["city", "name", "age"])
        #expect(columns([:], "name") == ["name"])
        #expect(columns(["address": ["city": "Brno"]]) == ["address.city"])
        #expect(columns(["$not": ["age": ["$lte": 30]]]) == ["age"])
        #expect(columns(["_id": ["$gt": "a"]]) == [])
        #expect(columns(["name": ["$regex": "a"]]) == [])
        #expect(columns(["$or": [["a": 1], ["b": 2]]]) == [])
    }

    @Test func `conditions are divided into those an index narrows by and the rest`() {
        let selector: JSONValue = [
            "$and": [
                ["a": ["$eq": 1]], ["b": ["$gt": 2]], ["c": ["$lt": 3]], ["$or": [["d": 1]]], ["e": ["$exists": true]],
            ]
        ]
        let (narrowing, checked) = FindConditions(selector).split(by: ["a", "b", "c", "e"])
        #expect(narrowing == ["a = 1", "b > 2", "e $exists true"])
        #expect(checked == ["c < 3", #"{"$or":[{"d":{"$eq":1}}]}"#])
    }

    @Test func `columns are the members that most documents have`() throws {
        let documents: [JSONValue] = [
            ["_id": "a", "_rev": "1-x", "rare": 1, "n": 1], ["_id": "b", "n": 2, "x.y": 3],
            ["_id": "c", "x.y": 3, "z": 1],
        ]
        let (shown, hidden) = FindTable.columns(of: documents, atMost: 2)
        #expect(shown == ["_id", "n", #"x\.y"#])
        #expect(hidden == ["rare", "z"])
        // The same letter as one character, and as two.
        let (one, two) = FindTable.columns(of: [["\u{E9}": 1, "e\u{301}": 2]], atMost: 1)
        #expect(one.map { Array($0.utf8) } == ["_id", "\u{E9}"].map { Array($0.utf8) })
        #expect(two.map { Array($0.utf8) } == [Array("e\u{301}".utf8)])
        #expect(FieldPath.value(#"x\.y"#, of: documents[1]) == 3)
        #expect(FieldPath.value("a.1.b", of: ["a": [0, ["b": 5]]]) == 5)
        #expect(FieldPath.value("a.b.c", of: ["a": 1]) == nil)
    }
}
