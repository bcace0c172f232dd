import SettleCore
import SettleQuery
import Testing

struct ConditionParserTests {
    @Test(arguments: [
        ("age > 30", #"{"age":{"$gt":30}}"#),
        ("age>=-1.5e3", #"{"age":{"$gte":-1.5e3}}"#),
        (#"name = "Ann""#, #"{"name":{"$eq":"Ann"}}"#),
        (#"name == 'O\'Neil \\ "x"'"#, #"{"name":{"$eq":"O'Neil \\ \"x\""}}"#),
        (#"name != "a\"é\n""#, #"{"name":{"$ne":"a\"é\n"}}"#),
        ("done = true", #"{"done":{"$eq":true}}"#),
        ("a = null", #"{"a":{"$eq":null}}"#),
        (#"at = {"x": [1, "]"]}"#, #"{"at":{"$eq":{"x":[1,"]"]}}}"#),
        (#"city in ["Prague","Brno"]"#, #"{"city":{"$in":["Prague","Brno"]}}"#),
        (#"name begins "A""#, #"{"name":{"$beginsWith":"A"}}"#),
        (#"name matches "^A.*n$""#, #"{"name":{"$regex":"^A.*n$"}}"#),
        ("address.city exists", #"{"address.city":{"$exists":true}}"#),
        (#"a\.b missing"#, #"{"a\\.b":{"$exists":false}}"#),
        ("_id > 'a'", #"{"_id":{"$gt":"a"}}"#),
        ("a = 1 && b = 2 && c = 3", #"{"$and":[{"a":{"$eq":1}},{"b":{"$eq":2}},{"c":{"$eq":3}}]}"#),
        ("a = 1 || b = 2 && c = 3", #"{"$or":[{"a":{"$eq":1}},{"$and":[{"b":{"$eq":2}},{"c":{"$eq":3}}]}]}"#),
        ("(a = 1 or b = 2) and c = 3", #"{"$and":[{"$or":[{"a":{"$eq":1}},{"b":{"$eq":2}}]},{"c":{"$eq":3}}]}"#),
        ("!(a = 1)", #"{"$not":{"a":{"$eq":1}}}"#),
        ("not a = 1 && b = 2", #"{"$and":[{"$not":{"a":{"$eq":1}}},{"b":{"$eq":2}}]}"#),
        (
            "a = 1 AND NOT (b == TRUE Or c IN [1])",
            #"{"$and":[{"a":{"$eq":1}},{"$not":{"$or":[{"b":{"$eq":true}},{"c":{"$in":[1]}}]}}]}"#
        ),
        ("n contains 3", #"{"n":{"$elemMatch":{"$eq":3}}}"#),
        (#"t CONTAINS "a.b""#, #"{"$or":[{"t":{"$elemMatch":{"$eq":"a.b"}}},{"t":{"$regex":"a\\.b"}}]}"#),
        ("a not in [1] and b Not Exists", #"{"$and":[{"$not":{"a":{"$in":[1]}}},{"$not":{"b":{"$exists":true}}}]}"#),
        (#""Unit Price" > 2"#, #"{"Unit Price":{"$gt":2}}"#),
        (#"'a.b' exists && !"in" missing"#, #"{"$and":[{"a\\.b":{"$exists":true}},{"$not":{"in":{"$exists":false}}}]}"#),
        (#"address."zip code" = 1"#, #"{"address.zip code":{"$eq":1}}"#),
        (#""Home Address".city = "x y""#, #"{"Home Address.city":{"$eq":"x y"}}"#),
        // A keyword of the language may be a member.
        ("in = 1 && exists exists", #"{"$and":[{"in":{"$eq":1}},{"exists":{"$exists":true}}]}"#),
    ]) func `a condition is translated to a selector`(condition: String, selector: String) throws {
        let made = try MangoSelector.json(ofCondition: condition)
        #expect(try made == JSONValue(parsing: selector), "\(made)")
        // The library accepts it.
        _ = try MangoSelector(made)
    }

    @Test(arguments: [
        ("age >", "a value is missing after >"), ("age", "after age must follow one of"),
        ("age > thirty", #"a text must be quoted, "thirty""#), ("age > 30 name = 'Ann'", "&& or || is missing"),
        ("a not = 3", "after a not must follow one of in contains"),
        ("a contains", "a value is missing after contains"),
        ("(age > 30", "a ) is missing"), ("age > 30)", "&& or || is missing, at )"),
        ("= 3", "a condition begins with the path"), ("name = 'Ann", "the text lacks its closing '"),
        ("a in [1, 2", "a bracket is not closed"), ("a in 3", "an array must follow in"),
        ("a begins 3", "a quoted text must follow begins"), ("a = 1x", "1x is not JSON"),
        ("a = 1 & b = 2", #""&" has no meaning here, at & b = 2"#), ("a = 1 &&", "at the end of a = 1 &&"),
        (#"a = "\q""#, "is not JSON"), ("", "a condition begins with the path"),
    ]) func `a malformed condition is reported with its position`(condition: String, complaint: String) throws {
        let error = try #require(throws: ConditionError.self) { try MangoSelector.json(ofCondition: condition) }
        #expect(error.message.contains(complaint), "\(error.message)")
    }

    @Test func `nesting is limited`() throws {
        let deep = String(repeating: "(", count: 5000)
        let error = try #require(throws: ConditionError.self) { try MangoSelector.json(ofCondition: deep) }
        #expect(error.message.contains("nested too deep"))
        let fine = String(repeating: "(", count: 50) + "a = 1" + String(repeating: ")", count: 50)
        #expect(try MangoSelector.json(ofCondition: fine) == ["a": ["$eq": 1]])
    }
}
