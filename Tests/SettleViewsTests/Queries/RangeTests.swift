import Settle
import SettleViews
import Testing

/// The searched range of an index.
struct RangeTests {
    @Test(
        arguments: [
            (["a": 5], [5], [5, "<MAX>"]), (["a": ["$gt": 5]], [5], ["<MAX>"]), (["a": ["$lt": 5]], [], [5, "<MAX>"]),
            (["a": ["$gte": 1, "$lte": 5]], [1], [5, "<MAX>"]), (["a": ["$gt": 1, "$gte": 1]], [1], ["<MAX>"]),
            (["a": ["$gt": 1, "$gte": 3, "$lt": 9, "$lte": 8]], [3], [8, "<MAX>"]),
            (["$and": [["a": ["$gt": 1]], ["$and": [["a": ["$lt": "x"]]]]]], [1], ["x", "<MAX>"]),
            (["a": ["$beginsWith": "ab"]], ["ab"], ["ab\u{FFFF}", "<MAX>"]), (["a": ["$ne": 1]], [], ["<MAX>"]),
            (["a": ["$exists": true]], [], ["<MAX>"]), (["a": 5, "b": 6], [5, 6], [5, 6, "<MAX>"]),
            (["a": ["$gt": 5], "b": ["$lt": 6]], [5], ["<MAX>"]), (["a": ["$gte": nil], "b": 6], [nil, 6], ["<MAX>"]),
        ] as [(JSONValue, JSONValue, JSONValue)])
    func `conditions become bounds`(selector: JSONValue, start: JSONValue, end: JSONValue) throws {
        let room = try PlannerRoom()
        try room.index("a")
        try room.index("a", "b")
        let bounds = try #require(try room.plan(selector).bounds)
        #expect(bounds.start == start)
        #expect(bounds.end == end)
        let reverse = try #require(try room.plan(selector, sort: [.descending("a")]).bounds)
        #expect(reverse.start == end && reverse.end == start)
    }

    @Test(
        arguments: [
            ["a": ["$gt": 5, "$lt": 5]], ["a": ["$gt": 5, "$lt": 1]], ["a": ["$eq": 1, "$gt": 1]],
            ["$and": [["a": 1], ["a": 2]]], ["a": ["$beginsWith": "b", "$lt": "a"]], ["$and": []], ["$or": []],
            ["$nor": []],
        ] as [JSONValue])
    func `contradicting conditions search nothing`(selector: JSONValue) throws {
        let room = try PlannerRoom()
        try room.index("a")
        #expect(try room.plan(selector).bounds == nil)
        try room.database.save(Document(id: "a", body: ["a": 1]), onConflict: .fail)
        #expect(try room.database.find(DocumentQuery<JSONValue>(MangoSelector(selector))).rows.isEmpty)
    }

    @Test func `ids have bounds in byte order`() throws {
        let room = try PlannerRoom()
        func bounds(_ selector: JSONValue) throws -> [JSONValue] {
            let bounds = try #require(try room.plan(selector).bounds)
            return [bounds.start, bounds.end]
        }
        #expect(try bounds([:]) == [nil, "<MAX>"])
        #expect(try bounds(["_id": "x"]) == ["x", "x"])
        #expect(try bounds(["_id": ["$gt": "a", "$lt": "c"]]) == ["a", "c"])
        #expect(try bounds(["_id": ["$lt": "c"]]) == ["", "c"])
    }

    private func found(_ database: Database, _ selector: JSONValue) throws -> [String] {
        try database.find(DocumentQuery<JSONValue>(MangoSelector(selector))).rows.map(\.id.string).sorted()
    }

    @Test func `ids are compared by their bytes, also in an index of another order`() throws {
        let room = try PlannerRoom()
        for id in ["B", "a", "b", "Z"] {
            try room.database.save(
                Document(id: DocumentID(stringLiteral: id), body: ["n": 1]), onConflict: .fail)
        }
        let selectors: [(JSONValue, [String])] = [
            (["_id": ["$gt": "B"]], ["Z", "a", "b"]), (["_id": ["$gt": "Z", "$lt": "b"]], ["a"]),
            (["_id": ["$gt": "b", "$lt": "B"]], []), (["_id": ["$gt": 5]], ["B", "Z", "a", "b"]),
            (["_id": ["$lt": 5]], []), (["_id": ["$beginsWith": "Z"]], ["Z"]), (["_id": "a"], ["a"]),
        ]
        for (selector, ids) in selectors { #expect(try found(room.database, selector) == ids) }
        try room.index("_id", "n")
        for (selector, ids) in selectors {
            let whole: JSONValue = ["$and": [selector, ["n": 1]]]
            #expect(try room.used(whole) == "_id-n")
            #expect(try found(room.database, whole) == ids, "\(selector)")
        }
    }

    @Test func `a prefix is found where collation reorders or combines letters`() throws {
        let room = try PlannerRoom()
        let texts = ["เก", "เ", "ก", "й", "и", "и\u{306}", "Äb", "A\u{308}b", "ab", "aB", "a\u{301}b", "漢字", "漢", ""]
        for (number, text) in texts.enumerated() {
            try room.database.save(
                Document(id: DocumentID(stringLiteral: "d\(number)"), body: ["t": .string(text)]), onConflict: .fail)
        }
        let before = try texts.map { try found(room.database, ["t": ["$beginsWith": .string($0)]]) }
        try room.index("t")
        for (text, ids) in zip(texts, before) {
            #expect(try room.used(["t": ["$beginsWith": .string(text)]]) == "t")
            #expect(try found(room.database, ["t": ["$beginsWith": .string(text)]]) == ids, "\(text)")
        }
    }

    @Test func `a range reads only its rows`() throws {
        let room = try PlannerRoom()
        for number in 0..<50 {
            let body: DocumentBody = ["a": .number(JSONNumber(number / 5)), "b": .number(JSONNumber(number % 5))]
            try room.database.save(Document(id: DocumentID(stringLiteral: "d\(number)"), body: body), onConflict: .fail)
        }
        try room.index("a", "b")
        for (selector, keys) in [
            (["a": ["$gt": 3, "$lt": 5], "b": ["$gte": 0]], 5), (["a": 4, "b": ["$gt": 1, "$lte": 3]], 2),
            (["a": ["$gte": 9], "b": ["$gte": 3]], 2), (["a": 77, "b": 1], 0),
        ] as [(JSONValue, Int)] {
            let result = try room.database.find(DocumentQuery<JSONValue>(MangoSelector(selector)))
            #expect(result.statistics.keysExamined == keys, "\(selector)")
            #expect(result.statistics.results == keys)
            #expect(result.warnings.isEmpty)
        }
    }
}
