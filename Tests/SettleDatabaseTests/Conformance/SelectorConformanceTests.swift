import Settle
import SettleQuery
import Testing

/// A selector used as a plain filter finds what a CouchDB found.
@Suite(.enabled(if: RecordedExchange.isAtHand, RecordedExchange.absence))
struct SelectorConformanceTests {
    // COUCHDB-FACTS 26, 27
    @Test(arguments: [("mango-operators--", 140), ("mango-find--", 100)])
    func `recorded searches find the same documents`(expected: (topic: String, count: Int)) throws {
        var compared = 0
        for file in RecordedExchange.files(expected.topic) {
            var replay = SelectorReplay()
            for step in try RecordedExchange.steps(file) { replay.run(step, in: file) }
            compared += replay.compared
        }
        #expect(compared >= expected.count)
    }

    @Test func `recorded feeds pass the same documents`() throws {
        var replay = SelectorReplay()
        for step in try RecordedExchange.steps("changes--filters.json") { replay.run(step, in: "changes--filters") }
        #expect(replay.compared >= 6)
    }

    @Test func `recorded views have the keys in the same order`() throws {
        var compared = 0
        for step in try RecordedExchange.steps("collation--json-types.json") {
            guard let rows = step["expect"]?["json"]?["rows"]?.array else { continue }
            let keys = rows.compactMap { $0["key"] }
            let isDescending = step["query"]?["descending"] == "true"
            for (first, second) in zip(keys, keys.dropFirst()) {
                let order = Collation.compare(first, second)
                #expect(order != (isDescending ? .before : .after), "\(first) and \(second)")
                if step["query"]?["group"] != nil { #expect(order == .before, "\(first) and \(second)") }
                compared += 1
            }
            if let key = step["query"]?["key"]?.string {
                for found in keys { #expect(try Collation.compare(found, JSONValue(parsing: key)) == .same) }
            }
        }
        #expect(compared > 400)
    }
}
