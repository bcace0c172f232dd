import Settle
import SettleViews
import Testing

/// Which index answers a query: CouchDB's rules, one by one.
struct PlannerTests {
    @Test(
        arguments: [
            (["a": 1], "a"), (["a": ["$gt": 1]], "a"), (["a": ["$gte": 1, "$lt": 5]], "a"),
            (["a": ["$exists": true]], "a"),
            (["a": ["$beginsWith": "x"]], "a"), (["a": ["$ne": 1]], "a"), (["a": ["$in": [1]]], "a"),
            (["$and": [["a": 1], ["b": 2]]], "a"), (["$or": [["a": 1], ["a": 2]]], "a"), (["$not": ["a": 1]], "a"),
            (["$nor": [["a": 1]]], "a"), (["a": ["$exists": false]], "_all_docs"), (["b": 1], "_all_docs"),
            ([:], "_all_docs"), (["$or": [["a": 1], ["b": 2]]], "_all_docs"), (["a.x": 1], "_all_docs"),
            (["$or": [["a": 1], ["a": ["$exists": false]]]], "_all_docs"), (["b": 1, "$or": []], "_all_docs"),
        ] as [(JSONValue, String)])
    func `an index is used if every matching document has all its members`(
        selector: JSONValue, name: String
    ) throws {
        let room = try PlannerRoom()
        try room.index("a")
        #expect(try room.used(selector) == name)
    }

    @Test func `the selector must require every member of an index`() throws {
        let room = try PlannerRoom()
        try room.index("a", "b")
        #expect(try room.used(["a": 1]) == "_all_docs")
        #expect(try room.used(["b": 1]) == "_all_docs")
        #expect(try room.used(["a": 1, "b": ["$type": "string"]]) == "a-b")
    }

    @Test func `id and revision need no condition, because every document has them`() throws {
        let room = try PlannerRoom()
        try room.index("a", "_id", "_rev")
        #expect(try room.used(["a": 1]) == "a-_id-_rev")
        try room.index("_id")
        #expect(try room.used([:]) == "_id")
    }

    @Test func `most conditions on the first members decide, then fewest members, then the names`() throws {
        let room = try PlannerRoom()
        try room.index("a", "c", "b", name: "one")
        try room.index("a", "b", "c", name: "two")
        try room.index("a", name: "three")
        #expect(try room.used(["a": 1, "b": 1, "c": ["$type": "string"]]) == "two")
        #expect(try room.used(["a": 1]) == "three")
        #expect(try room.used(["a": 1, "b": ["$type": "x"], "c": ["$type": "x"]]) == "three")
        try room.index("a", name: "name", in: "a-design")
        #expect(try room.used(["a": 1]) == "name")
        try room.index("a", name: "earlier", in: "a-design")
        #expect(try room.used(["a": 1]) == "earlier")
    }

    @Test func `a partial index is used only by its name`() throws {
        let room = try PlannerRoom()
        try room.index("a", name: "open", filter: ["done": false])
        #expect(try room.used(["a": 1]) == "_all_docs")
        #expect(try room.used(["a": 1]) { $0.useIndex = ["open"] } == "open")
        #expect(try room.used(["a": 1]) { $0.useIndex = ["_design/open", "open"] } == "open")
        #expect(try room.used(["b": 1]) { $0.useIndex = ["open"] } == "_all_docs")
    }

    @Test func `another index is used where the named one does not fit, unless fallback is off`() throws {
        let room = try PlannerRoom()
        try room.index("a")
        let other = try room.plan(["a": 1]) { $0.useIndex = ["none"] }
        #expect(other.index.name == "a")
        #expect(
            other.warnings == ["_design/none was not used because it does not contain a valid index for this query."])
        let none = try room.plan(["b": 1]) { $0.useIndex = ["a", "a"] }
        #expect(
            none.warnings == [
                "_design/a, a was not used because it is not a valid index for this query.",
                "No matching index found, create an index to optimize query time.",
            ])
        let error = #expect(throws: QueryError.self) {
            try room.plan(["b": 1]) {
                $0.useIndex = ["a"]
                $0.allowsFallback = false
            }
        }
        #expect(error?.code == .invalidIndex)
        #expect(error?.reason == "_design/a specified by `use_index` could not be found or it is not suitable.")
        #expect(throws: QueryError.self) { try room.plan(["b": 1]) { $0.allowsFallback = false } }
        #expect(try room.used(["a": 1]) { $0.allowsFallback = false } == "a")
    }

    @Test func `an order must be that of an index`() throws {
        let room = try PlannerRoom()
        try room.index("a", "b")
        #expect(try room.used([:], sort: ["a", "b"]) == "a-b")
        #expect(try room.used(["b": 1], sort: ["a"]) == "a-b")
        #expect(try room.used(["a": 1], sort: ["b"]) == "a-b")
        #expect(try room.used(["a": 1, "b": 1], sort: [.descending("a")]) == "a-b")
        for (selector, sort) in [
            ([:], ["b"]), ([:], ["a"]), (["a": 1, "b": 1], ["b", "a"]), (["a": ["$gt": 1]], ["b"]), ([:], ["_id"]),
            (["a": 1, "b": 1], ["c"]),
        ] as [(JSONValue, [SortField])] {
            let error = #expect(throws: QueryError.self, "\(selector) \(sort)") {
                try room.plan(selector, sort: sort)
            }
            #expect(error?.code == .noUsableIndex)
        }
        #expect(try room.used(["_id": ["$gt": nil]], sort: ["_id"]) == "_all_docs")
    }

    @Test func `a covering index answers without documents`() throws {
        let room = try PlannerRoom()
        try room.index("a", "b")
        #expect(try room.plan(["a": 1, "b": 2]) { $0.fields = ["_id", "a"] }.isCovering)
        #expect(try !room.plan(["a": 1, "b": 2]).isCovering)
        #expect(try !room.plan(["a": 1, "b": 2]) { $0.fields = ["c"] }.isCovering)
        #expect(try !room.plan(["a": 1, "b": 2, "c": 3]) { $0.fields = ["a"] }.isCovering)
    }

    @Test func `the plan says why other indexes are not used`() throws {
        let room = try PlannerRoom()
        for fields in [["a"], ["b"], ["a", "c"]] { try room.index(fields[0], name: fields.joined()) }
        try room.index("a", "c", name: "ac", in: "later")
        try room.index("a", name: "part", filter: ["x": 1])
        let plan = try room.planner(["a": 1, "c": ["$type": "x"]]).explained()
        #expect(plan.index?.name == "a")
        let told = Dictionary(
            plan.candidates.map { ("\($0.index.designDocument?.string ?? "") \($0.index.name)", $0.reason) },
            uniquingKeysWith: { first, _ in first })
        #expect(
            told == [
                "_design/part part": "is_partial", "_design/later ac": "too_many_fields",
                "_design/b b": "field_mismatch", "_design/ac ac": "alphabetically_comes_after",
                " _all_docs": "unfavored_type",
            ])
        #expect(plan.indexableFields == ["a"] && plan.unindexableFields == ["c"])
        let none = try room.planner(["a": 1], sort: ["z"]).explained()
        #expect(none.index == nil)
        #expect(none.candidates.allSatisfy { !$0.isUsable })
    }
}
