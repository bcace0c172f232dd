import Settle
import SettleTesting

/// Random selectors, documents and indexes with few members and values, so that they often match.
struct RandomQuestions {
    var random: SeededRandom
    private let paths = ["a", "b", "c", "o.x", "t", "t.0", "_id", "o"]
    private let texts = [
        "", "a", "A", "ab", "aB", "b", "é", "e\u{301}", "e", "เก", "เ", "ก", "и", "й", "и\u{306}", "か", "が", "漢字",
        "z\u{FFFF}", "\u{1}", "a\u{1}", "ß", "ss", "l·", "l", "10", "\u{1F600}", "가", "각",
    ]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

    mutating func id() -> String {
        pick(["d", "D", "é", "z", "_x"]).replacing("_", with: "") + String(random.below(40))
    }

    mutating func value(_ depth: Int = 2) -> JSONValue {
        switch random.below(depth > 0 ? 12 : 9) {
        case 0: .null
        case 1: .bool(random.oneIn(2))
        case 2...4: .number(JSONNumber(random.below(6) - 2))
        case 5: pick([1.0, 2.5, -0.0, 1e3, 9_007_199_254_740_992.0, 0.1])
        case 6...8: .string(pick(texts))
        case 9, 10: .array((0..<random.below(4)).map { _ in value(depth - 1) })
        default: .object(JSONObject((0..<random.below(3)).map { _ in (pick(["x", "y"]), value(depth - 1)) }))
        }
    }

    mutating func body() -> DocumentBody {
        var members: [(String, JSONValue)] = []
        for name in ["a", "b", "c", "t"] where !random.oneIn(4) { members.append((name, value())) }
        if random.oneIn(2) { members.append(("o", ["x": value(1), "z": 1])) }
        return (try? DocumentBody(.object(JSONObject(members)))) ?? .empty
    }

    mutating func selector(_ depth: Int = 3) -> JSONValue {
        guard depth > 0, random.oneIn(2) else { return condition() }
        let inner = (0..<random.below(4)).map { _ in selector(depth - 1) }
        switch random.below(7) {
        case 0...2: return ["$and": .array(inner)]
        case 3: return ["$or": .array(inner)]
        case 4: return ["$nor": .array(inner)]
        case 5: return ["$not": selector(depth - 1)]
        default:
            return .object(JSONObject((0..<(1 + random.below(3))).map { _ in (pick(paths), argument()) }))
        }
    }

    private mutating func condition() -> JSONValue { .object(JSONObject([(pick(paths), argument())])) }

    private mutating func argument() -> JSONValue {
        let comparisons = ["$lt", "$lte", "$gt", "$gte", "$eq", "$ne"]
        switch random.below(16) {
        case 0...6: return .object(JSONObject([(pick(comparisons), value(1))]))
        case 7: return .object(JSONObject([(pick(comparisons), value(1)), (pick(comparisons), value(1))]))
        case 8: return ["$exists": .bool(!random.oneIn(3))]
        case 9, 10: return ["$beginsWith": .string(pick(texts))]
        case 11: return .object(JSONObject([(pick(["$in", "$nin"]), .array([value(1), value(1)]))]))
        case 12: return ["$type": .string(pick(["string", "number", "array", "null"]))]
        case 13: return ["$elemMatch": ["$gt": value(0)]]
        case 14: return ["$not": .object(JSONObject([(pick(comparisons), value(1))]))]
        default: return value(1)
        }
    }

    /// The members of an index, or of a sort order.
    mutating func fields() -> [String] {
        var fields: [String] = []
        for _ in 0..<(1 + random.below(3)) {
            let path = pick(paths + ["_rev"])
            if !fields.contains(path) { fields.append(path) }
        }
        return fields
    }
}
