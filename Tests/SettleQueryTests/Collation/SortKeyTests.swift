import SettleCore
import SettleQuery
import SettleTesting
import Testing

struct SortKeyTests {
    private static func random(_ generator: inout SeededRandom, depth: Int = 2) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .number(JSONNumber(Int.random(in: -20...20, using: &generator)))
        case 3: return .number(JSONNumber(Int.random(in: .min ... .max, using: &generator)))
        case 4:
            let value = Double(bitPattern: .random(in: 0 ... .max, using: &generator))
            return .number(JSONNumber(value.isFinite ? value : 0.5) ?? JSONNumber(0))
        case 5: return .number(JSONNumber(Double(Int.random(in: -300...300, using: &generator)) / 8) ?? JSONNumber(0))
        case 6:
            let letters = ["a", "A", "b", "é", "e\u{301}", " ", "-", "ß", "ss", "日", "\u{0}", "😀", "1"]
            let count = Int.random(in: 0...4, using: &generator)
            return .string((0..<count).map { _ in letters.randomElement(using: &generator) ?? "" }.joined())
        case 7:
            return .array(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in random(&generator, depth: depth - 1) })
        default:
            let count = Int.random(in: 0...2, using: &generator)
            return .object(
                JSONObject(
                    (0..<count).map { _ in
                        (["a", "b", "é"].randomElement(using: &generator) ?? "", random(&generator, depth: depth - 1))
                    }))
        }
    }

    @Test func `keys are ordered like their values`() {
        var generator = SeededRandom(seed: 7)
        for _ in 0..<20_000 {
            let (left, right) = (Self.random(&generator), Self.random(&generator))
            let keys = (SortKey.of(left), SortKey.of(right))
            let order: Collation.Order =
                keys.0 == keys.1 ? .same : keys.0.lexicographicallyPrecedes(keys.1) ? .before : .after
            #expect(order == Collation.compare(left, right), "\(left) and \(right)")
            #expect(keys.0 == keys.1 || !keys.1.starts(with: keys.0), "\(left) is the beginning of \(right)")
            #expect(SortKey.end(of: (keys.0 + [0x61, 0x62])[...]) == keys.0.count)
        }
    }

    @Test func `raw keys are ordered like their values in Erlang`() {
        var generator = SeededRandom(seed: 8)
        for _ in 0..<20_000 {
            let (left, right) = (Self.random(&generator), Self.random(&generator))
            let keys = (SortKey.of(left, in: .raw), SortKey.of(right, in: .raw))
            let order: Collation.Order =
                keys.0 == keys.1 ? .same : keys.0.lexicographicallyPrecedes(keys.1) ? .before : .after
            #expect(order == KeyOrder.raw.compare(left, right), "\(left) and \(right)")
            #expect(keys.0 == keys.1 || !keys.1.starts(with: keys.0), "\(left) is the beginning of \(right)")
            #expect(SortKey.end(of: (keys.0 + [0x61, 0x62])[...]) == keys.0.count)
        }
        let key = SortKey.of(["x", 1, ["y"]], in: .raw)[...]
        #expect(Array(key[..<SortKey.end(of: key, elements: 1)]) == [0xA1] + SortKey.of("x", in: .raw))
    }

    @Test func `integers past 2⁵³ are distinguished from adjacent floats`() {
        let order: [JSONValue] = [
            .number(JSONNumber(9_007_199_254_740_991)), .number(JSONNumber(9_007_199_254_740_992)),
            .number(JSONNumber(9_007_199_254_740_993)), .number(JSONNumber(1e300) ?? JSONNumber(0)),
        ]
        let keys = order.map { SortKey.of($0) }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        #expect(SortKey.of(9_007_199_254_740_992.0) == keys[1])
        #expect(SortKey.of(1e23) != SortKey.of(.number(JSONNumber(text: "100000000000000000000000") ?? JSONNumber(0))))
    }

    @Test func `the first elements of an array can be read from its key`() {
        let key = SortKey.of(["x", 1, ["y"]])[...]
        #expect(Array(key[..<SortKey.end(of: key, elements: 1)]) == [0x50] + SortKey.of("x"))
        #expect(SortKey.end(of: key, elements: 3) == key.count - 1)
        #expect(SortKey.end(of: key, elements: 4) == key.count)
        let text = SortKey.of("x")[...]
        #expect(SortKey.end(of: text, elements: 1) == text.count)
    }
}
