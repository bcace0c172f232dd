import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Pages of documents of which the later ones are much larger.
struct LargePageTests {
    private static let small = 300
    private static let large = 12

    private func database() throws -> Database {
        let database = try Database.inMemory()
        let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
        for number in 0..<Self.small { try database.save(Document(id: "a\(number)", body: ["n": JSONValue(number)])) }
        for number in 0..<Self.large { try database.save(Document(id: "b\(number)", body: ["text": text])) }
        return database
    }

    @Test func `a page ends at some megabytes, and the next one goes on`() throws {
        let database = try database()
        var (range, sizes, found) = (SequenceRange(after: UpdateSequence(Int64(Self.small))), [Int](), 0)
        while case let page = try database.records(changedIn: range, limit: 200, withContent: true),
            let last = page.last
        {
            sizes.append(page.contentLength)
            #expect(page.isLast(of: 200) == (last.sequence.number == Int64(Self.small + Self.large)))
            found += page.count
            range.after = last.sequence
        }
        #expect(found == Self.large)
        #expect(sizes.allSatisfy { $0 < PageSize.maximumBytes + 1_000_100 })
        let all = try database.records(in: DocumentRange(after: "b"), limit: 200, withContent: true)
        #expect(all.count == 5)
        let named = try database.records(of: (0..<Self.large).map { DocumentID(unchecked: "b\($0)") })
        #expect(named.map(\.id.string) == (0..<5).map { "b\($0)" })
        // Without contents a page has as many as were asked for.
        let heads = try database.records(in: DocumentRange(), limit: 400, withContent: false)
        #expect(heads.count == Self.small + Self.large)
    }

    @Test func `everything that reads all documents finds the large ones`() throws {
        let database = try database()
        let count = Self.small + Self.large
        #expect(try database.documents().count == count)
        #expect(try database.changes(includingDocuments: true).count == count)
        #expect(try database.verify().documents == count)
        let query = DocumentQuery<JSONValue>(try MangoSelector(["text": ["$exists": true]]))
        #expect(try database.find(query).rows.count == Self.large)
        try database.createIndex(on: "text")
        #expect(try database.find(query).rows.count == Self.large)
    }
}
