import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleViews

/// With a sort order, only a bounded number of documents is kept in memory, and all are found.
struct TextFinderTests {
    @Test(arguments: [1, 3, 10, 40, 41, 100], [false, true])
    func `all results are found, a part at a time`(largest: Int, isDescending: Bool) throws {
        let database = try Database.plain()
        let index = TextIndex("words", fields: [TextIndexField("words")])
        for number in 0..<40 {
            let body: DocumentBody = ["words": "red", "a": .number(JSONNumber(number * 7 % 40 / 2))]
            try database.save(Document(id: DocumentID(stringLiteral: "d\(number + 10)"), body: body), onConflict: .fail)
        }
        try index.rows(in: database).update(from: database)
        var options = FindOptions(try MangoSelector(["$text": "red"]))
        options.sort = [isDescending ? .descending("a") : .ascending("a")]
        options.limit = .max
        var finder = try TextFinder(["red"], options, in: index, of: database, largest: largest)
        var found: [(Int, String)] = []
        while !finder.isDone {
            try finder.fill(lookingAt: 15) { id in try database.document(id)?["a"].map { .array([$0]) } }
            while let hit = finder.pop() { found.append((hit.key[0]?.int ?? -1, hit.id.string)) }
        }
        let expected = found.sorted { isDescending ? $1 < $0 : $0 < $1 }
        #expect(found.count == 40 && Set(found.map(\.1)).count == 40)
        #expect(found.map(\.1) == expected.map(\.1))
    }
}
