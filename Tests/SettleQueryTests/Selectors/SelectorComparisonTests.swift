import SettleCore
import SettleQuery
import Testing

/// The comparison operators, and how they treat a missing member.
struct SelectorComparisonTests {
    @Test(arguments: [
        (#"{"a":{"$lt":2}}"#, true), (#"{"a":{"$lt":1}}"#, false), (#"{"a":{"$lte":1}}"#, true),
        (#"{"a":{"$lte":0}}"#, false), (#"{"a":{"$eq":1.0}}"#, true), (#"{"a":{"$eq":"1"}}"#, false),
        (#"{"a":{"$ne":2}}"#, true), (#"{"a":{"$ne":1}}"#, false), (#"{"a":{"$gte":1}}"#, true),
        (#"{"a":{"$gte":"1"}}"#, false), (#"{"a":{"$gt":null}}"#, true), (#"{"a":{"$gt":true}}"#, true),
        (#"{"a":{"$lt":""}}"#, true), (#"{"a":{"$gt":0,"$lt":2}}"#, true), (#"{"a":{"$gt":1,"$lt":2}}"#, false),
        (#"{"a":1}"#, true), (#"{"a":1e0}"#, true), (#"{"a":9007199254740993}"#, false),
    ])
    func `numbers are compared in the order of values`(selector: String, isMatch: Bool) throws {
        #expect(try SelectorSamples.matches(selector, #"{"_id":"d","a":1}"#) == isMatch)
    }

    @Test(arguments: [
        #"{"a":{"$lt":{}}}"#, #"{"a":{"$ne":1}}"#, #"{"a":{"$nin":[1]}}"#, #"{"a":{"$not":{"$eq":1}}}"#,
        #"{"$not":{"a":1}}"#, #"{"$nor":[{"a":1}]}"#, #"{"a":{"$not":{"$regex":"x"}}}"#, #"{"a":{"$exists":true}}"#,
        #"{"a":{"$not":{"$exists":false}}}"#, #"{"a":null}"#, #"{"a":{"$nin":[]}}"#,
    ])
    func `a missing member matches neither a condition nor its negation`(selector: String) throws {
        #expect(try !SelectorSamples.matches(selector, #"{"_id":"d","b":2}"#))
    }

    @Test func `a missing member matches the condition that it does not exist`() throws {
        #expect(try SelectorSamples.matches(#"{"a":{"$exists":false}}"#, #"{"b":1}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$not":{"$exists":true}}}"#, #"{"b":1}"#))
        #expect(try SelectorSamples.matches(#"{"a.b":{"$exists":false}}"#, #"{"a":{}}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$exists":false}}"#, #"{"a":null}"#))
        // A path through a number leads nowhere, not to a missing member.
        #expect(try !SelectorSamples.matches(#"{"a.b":{"$exists":false}}"#, #"{"a":1}"#))
    }

    @Test func `strings are compared by collation and ids by bytes`() throws {
        #expect(try SelectorSamples.matches(#"{"name":{"$lt":"B"}}"#, #"{"name":"a"}"#))
        #expect(try SelectorSamples.matches(#"{"name":"\u00e9"}"#, #"{"name":"e\u0301"}"#))
        #expect(try SelectorSamples.matches(#"{"_id":{"$gt":"B"}}"#, #"{"_id":"a"}"#))
        #expect(try SelectorSamples.matches(#"{"_id":{"$lt":"a"}}"#, #"{"_id":"B"}"#))
        #expect(try !SelectorSamples.matches(#"{"_id":"\u00e9"}"#, #"{"_id":"e\u0301"}"#))
        #expect(try SelectorSamples.matches(#"{"_id":{"$gt":{}}}"#, #"{"_id":"a"}"#))
        #expect(try SelectorSamples.matches(#"{"_id":{"$in":["b","a"]}}"#, #"{"_id":"a"}"#))
    }

    @Test func `an object matches its members one by one, and $eq the object itself`() throws {
        let document = #"{"map":{"a":1,"b":2}}"#
        #expect(try SelectorSamples.matches(#"{"map":{"a":1}}"#, document))
        #expect(try SelectorSamples.matches(#"{"map":{"b":2,"a":1}}"#, document))
        #expect(try SelectorSamples.matches(#"{"map":{"$eq":{"a":1,"b":2}}}"#, document))
        #expect(try !SelectorSamples.matches(#"{"map":{"$eq":{"b":2,"a":1}}}"#, document))
        #expect(try !SelectorSamples.matches(#"{"map":{}}"#, document))
        #expect(try SelectorSamples.matches(#"{"map":{}}"#, #"{"map":{}}"#))
    }

    @Test func `conditions $in and $nin look into arrays`() throws {
        #expect(try SelectorSamples.matches(#"{"t":{"$in":[1,"x"]}}"#, #"{"t":["x","y"]}"#))
        #expect(try SelectorSamples.matches(#"{"t":{"$in":[1.0]}}"#, #"{"t":1}"#))
        #expect(try !SelectorSamples.matches(#"{"t":{"$in":[["x"]]}}"#, #"{"t":["x"]}"#))
        #expect(try SelectorSamples.matches(#"{"t":{"$in":[["x"]]}}"#, #"{"t":[["x"]]}"#))
        #expect(try !SelectorSamples.matches(#"{"t":{"$in":[]}}"#, #"{"t":1}"#))
        #expect(try SelectorSamples.matches(#"{"t":{"$nin":["z"]}}"#, #"{"t":["x"]}"#))
        #expect(try !SelectorSamples.matches(#"{"t":{"$nin":["x"]}}"#, #"{"t":["x"]}"#))
        #expect(try SelectorSamples.matches(#"{"t":{"$nin":[]}}"#, #"{"t":1}"#))
    }

    @Test(arguments: ["null", "boolean", "number", "string", "array", "object", "date"])
    func `condition $type distinguishes the kinds`(kind: String) throws {
        let samples = [("null", "null"), ("true", "boolean"), ("1e3", "number"), ("\"\"", "string"), ("[]", "array")]
        for (text, name) in samples + [("{}", "object")] {
            #expect(try SelectorSamples.matches(#"{"a":{"$type":"\#(kind)"}}"#, #"{"a":\#(text)}"#) == (kind == name))
        }
    }

    @Test func `condition $mod divides integers of any length towards zero`() throws {
        #expect(try SelectorSamples.matches(#"{"a":{"$mod":[3,1]}}"#, #"{"a":7}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$mod":[3,-1]}}"#, #"{"a":-7}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$mod":[-3,1]}}"#, #"{"a":7}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$mod":[3,1]}}"#, #"{"a":7.0}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$mod":[7,2]}}"#, #"{"a":100000000000000000000}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$mod":[9223372036854775807,1]}}"#, #"{"a":9223372036854775808}"#))
        #expect(
            try SelectorSamples.matches(#"{"a":{"$mod":[-9223372036854775808,0]}}"#, #"{"a":-9223372036854775808}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$mod":[0,0]}}"#, #"{"a":7}"#))
        #expect(try !SelectorSamples.matches(#"{"$not":{"a":{"$mod":[0,0]}}}"#, #"{"a":7}"#))
    }

    @Test func `condition $beginsWith matches whole characters`() throws {
        #expect(try SelectorSamples.matches(#"{"a":{"$beginsWith":"foo"}}"#, #"{"a":"food"}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$beginsWith":"foo"}}"#, #"{"a":"foo"}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$beginsWith":"foo"}}"#, #"{"a":"fo"}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$beginsWith":""}}"#, #"{"a":""}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$beginsWith":""}}"#, #"{"a":1}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$beginsWith":"e"}}"#, #"{"a":"e\u0301a"}"#))
        #expect(try SelectorSamples.matches(#"{"a":{"$beginsWith":"e\u0301"}}"#, #"{"a":"e\u0301a"}"#))
        #expect(try !SelectorSamples.matches(#"{"a":{"$beginsWith":"\u00e9"}}"#, #"{"a":"e\u0301a"}"#))
    }
}
