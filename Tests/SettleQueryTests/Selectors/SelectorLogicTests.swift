import Settle
import SettleQuery
import Testing

/// Operators that combine conditions, and those that apply to elements.
struct SelectorLogicTests {
    @Test(arguments: [
        (#"{"$and":[{"a":1},{"b":2}]}"#, true), (#"{"$and":[{"a":1},{"b":3}]}"#, false), (#"{"$and":[]}"#, true),
        (#"{"$or":[{"a":2},{"b":2}]}"#, true), (#"{"$or":[{"a":2},{"b":3}]}"#, false), (#"{"$or":[]}"#, true),
        (#"{"$nor":[{"a":2},{"b":3}]}"#, true), (#"{"$nor":[{"a":2},{"b":2}]}"#, false), (#"{"$nor":[]}"#, true),
        (#"{"$not":{"a":2}}"#, true), (#"{"$not":{"$not":{"a":1}}}"#, true), (#"{"a":{"$not":{"$gt":1}}}"#, true),
        (#"{"a":{"$or":[{"$lt":0},{"$gt":0}]}}"#, true), (#"{"a":{"$nor":[{"$lt":0},{"$gt":0}]}}"#, false),
        (#"{"a":1,"$or":[{"b":1},{"b":2}]}"#, true), (#"{}"#, true), (#"{"$and":[{},{"a":1}]}"#, false),
        (#"{"$not":{"$and":[{"a":1},{"b":3}]}}"#, true), (#"{"a":{"$gt":0,"b":2}}"#, false),
    ])
    func `conditions are combined`(selector: String, isMatch: Bool) throws {
        #expect(try SelectorSamples.matches(selector, #"{"a":1,"b":2}"#) == isMatch)
    }

    @Test func `an empty search is distinguished from a filter`() throws {
        for text in [#"{"$and":[]}"#, #"{"$or":[]}"#, #"{"$nor":[]}"#] {
            #expect(try MangoSelector(JSONValue(parsing: text)).isVacuous)
        }
        for text in ["{}", #"{"a":1,"$or":[]}"#, #"{"a":{"$in":[]}}"#, #"{"$or":[{"a":1}]}"#] {
            #expect(try !MangoSelector(JSONValue(parsing: text)).isVacuous)
        }
    }

    @Test(arguments: [
        (#"{"$elemMatch":{"$gt":2}}"#, "[1,3]", true), (#"{"$elemMatch":{"$gt":3}}"#, "[1,3]", false),
        (#"{"$elemMatch":{"k":1,"v":2}}"#, #"[{"k":1},{"k":1,"v":2}]"#, true),
        (#"{"$elemMatch":{"$gt":1}}"#, "3", false), (#"{"$elemMatch":{}}"#, "[{}]", true),
        (#"{"$elemMatch":{"$not":{"k":1}}}"#, #"[{"v":1}]"#, true),
        (#"{"$elemMatch":{"$nor":[{"k":1}]}}"#, #"[{"v":1}]"#, false),
        (#"{"$elemMatch":{"$or":[{"$eq":1},{"$nor":[]}]}}"#, "[1]", true),
        (#"{"$elemMatch":{"a..b":1}}"#, "[{}]", false),
        (#"{"$elemMatch":{"$elemMatch":{"$eq":4}}}"#, "[[1],[4]]", true),
        (#"{"$allMatch":{"$gt":0}}"#, "[1,3]", true), (#"{"$allMatch":{"$gt":1}}"#, "[1,3]", false),
        (#"{"$allMatch":{"$gt":0}}"#, "[]", false), (#"{"$allMatch":{"$gt":0}}"#, "{}", false),
        (#"{"$keyMapMatch":{"$eq":"b"}}"#, #"{"a":1,"b":2}"#, true),
        (#"{"$keyMapMatch":{"$regex":"^c"}}"#, #"{"a":1,"b":2}"#, false),
        (#"{"$keyMapMatch":{"$eq":"b"}}"#, #"["b"]"#, false),
        (#"{"$not":{"$elemMatch":{"$gt":2}}}"#, "[1,3]", false), (#"{"$not":{"$elemMatch":{"$gt":3}}}"#, "[1,3]", true),
        (#"{"$all":["x"]}"#, #"["x","y"]"#, true), (#"{"$all":["x","z"]}"#, #"["x","y"]"#, false),
        (#"{"$all":[]}"#, "[]", false), (#"{"$all":["x"]}"#, #""x""#, false), (#"{"$all":[1.0]}"#, "[1]", false),
        (#"{"$all":[["x",1.0]]}"#, #"["x",1]"#, true), (#"{"$all":[["x"]]}"#, #"[["x"]]"#, true),
        (#"{"$size":2}"#, "[1,3]", true), (#"{"$size":1}"#, "[1,3]", false), (#"{"$size":0}"#, "{}", false),
        (#"{"$size":99999999999999999999}"#, "[]", false),
    ])
    func `conditions apply to elements`(condition: String, value: String, isMatch: Bool) throws {
        #expect(try SelectorSamples.matches(#"{"a":\#(condition)}"#, #"{"a":\#(value)}"#) == isMatch)
    }

    @Test(arguments: [
        (#"{"a.b":1}"#, #"{"a":{"b":1}}"#, true), (#"{"a\\.b":1}"#, #"{"a.b":1}"#, true),
        (#"{"a.b":1}"#, #"{"a.b":1}"#, false), (#"{"a":{"b.c":1}}"#, #"{"a":{"b":{"c":1}}}"#, true),
        (#"{"a.1":2}"#, #"{"a":[1,2]}"#, true), (#"{"a.+1":2}"#, #"{"a":[1,2]}"#, true),
        (#"{"a.2":{"$exists":false}}"#, #"{"a":[1,2]}"#, false), (#"{"a.-1":2}"#, #"{"a":[1,2]}"#, false),
        (#"{"a.x":1}"#, #"{"a":[{"x":1}]}"#, false), (#"{"":{"a":1}}"#, #"{"a":1}"#, true),
        (#"{"\\$a":1}"#, #"{"$a":1}"#, true), (#"{"a.$b":1}"#, #"{"a":{"$b":1}}"#, true),
        (#"{"a\\":{"b":1}}"#, #"{"a.b":1}"#, true), (#"{"a\\\\.b":1}"#, #"{"a.b":1}"#, true),
    ])
    func `paths name nested members`(selector: String, document: String, isMatch: Bool) throws {
        #expect(try SelectorSamples.matches(selector, document) == isMatch)
    }

    @Test func `a selector sees a document's reserved members`() throws {
        let document = Document(id: "d1", body: ["n": 1])
        #expect(try MangoSelector(["_id": "d1", "n": 1]).matches(document))
        #expect(try !MangoSelector(["_rev": ["$exists": true]]).matches(document))
        #expect(try !MangoSelector(["_deleted": true]).matches(document))
        #expect(try MangoSelector(["_deleted": ["$exists": false]]).matches(document))
        #expect(try MangoSelector(["_attachments": ["$exists": false]]).matches(document))
    }
}
