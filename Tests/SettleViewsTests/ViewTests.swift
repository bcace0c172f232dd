import Foundation
import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

struct ViewTests {
    private let byYear = MapIndex<Int, String>("by year", version: 1) { book, emit in
        if let year = book["year"]?.int { emit(year, book["title"]?.string ?? "") }
    }

    private func library() throws -> Database {
        let database = try Database.plain()
        for (id, year, title) in [("a", 1984, "A"), ("b", 2001, "B"), ("c", 1984, "C"), ("d", 1999, "D")] {
            let body: DocumentBody = ["year": .number(JSONNumber(year)), "title": .string(title)]
            try database.save(Document(id: DocumentID(stringLiteral: id), body: body), onConflict: .fail)
        }
        try database.save(Document(id: "none", body: [:]), onConflict: .fail)
        return database
    }

    @Test func `rows are ordered by key, then by document id`() throws {
        let database = try library()
        #expect(try database.rows(of: byYear).map(\.id.string) == ["a", "c", "d", "b"])
        #expect(try database.rows(of: byYear, in: .all.reversed()).map(\.value) == ["B", "D", "C", "A"])
        #expect(try database.rows(of: byYear, in: .between(1984, 1999)).count == 3)
        #expect(try database.rows(of: byYear, in: .before(1999)).map(\.key) == [1984, 1984])
        #expect(try database.rows(of: byYear, in: .before(1999).reversed()).map(\.id) == ["c", "a"])
        #expect(try database.rows(of: byYear, in: .from(1999)).map(\.id) == ["d", "b"])
        #expect(try database.rows(of: byYear, in: .keys([2001, 1984])).map(\.id) == ["b", "a", "c"])
        #expect(try database.rows(of: byYear, in: .all.dropFirst(1).prefix(2)).map(\.id) == ["c", "d"])
        #expect(try database.count(of: byYear, in: .through(1999)) == 3)
        #expect(try database.rows(of: byYear).first?.document(in: database)?["title"] == "A")
    }

    @Test func `a document that was changed, deleted or purged has only its new rows`() throws {
        let database = try library()
        #expect(try database.rows(of: byYear).count == 4)
        var document = try #require(try database.document("a"))
        document["year"] = 2020
        try database.save(document, onConflict: .fail)
        try database.delete(try #require(try database.document("b")), onConflict: .fail)
        try database.purge("c")
        #expect(try database.rows(of: byYear).map(\.key) == [1999, 2020])
    }

    @Test func `more purges than are remembered are detected`() throws {
        let database = try Database.plain()
        let all = MapIndex<String, Int>("all", version: 1) { document, emit in emit(document.id.string, 1) }
        let ids = (0..<1200).map { DocumentID(stringLiteral: "d\($0)") }
        try database.transaction { for id in ids { try database.save(Document(id: id), onConflict: .fail) } }
        #expect(try database.count(of: all) == 1200)
        try database.transaction { for id in ids.dropLast(5) { try database.purge(id) } }
        #expect(try database.rows(of: all).map(\.key) == ["d1195", "d1196", "d1197", "d1198", "d1199"])
        try database.save(Document(id: "d0"), onConflict: .fail)
        #expect(try database.count(of: all) == 6)
    }

    @Test func `another version rebuilds the rows, and a closure that throws emits none`() throws {
        let database = try library()
        #expect(try database.rows(of: byYear).count == 4)
        let other = MapIndex<Int, String>("by year", version: 2) { book, emit in
            emit(0, book.id.string)
            if book.id == "a" { throw DatabaseError(.invalid, "no") }
        }
        #expect(try database.rows(of: other).map(\.value) == ["b", "c", "d", "none"])
        #expect(try database.rows(of: byYear).count == 4)
    }

    /// SEMANTICS 142
    @Test func `conflicts are seen, also when only a losing branch has changed`() throws {
        let database = try Database.plain()
        let conflicted = MapIndex<String, [String]>("conflicts", version: 1) { document, emit in
            if !document.conflicts.isEmpty { emit(document.id.string, document.conflicts.map(\.description)) }
        }
        func insert(_ signature: String) throws {
            let revision = try #require(RevisionID("1-" + signature))
            try database.insertReplicated([
                ReplicatedRevision(id: "x", history: RevisionHistory(revision), body: [:])
            ])
        }
        try insert("bb")
        #expect(try database.rows(of: conflicted).isEmpty)
        try insert("aa")
        #expect(try database.rows(of: conflicted).map(\.value) == [["1-aa"]])
        try insert("cc")
        #expect(try database.rows(of: conflicted).map(\.value) == [["1-bb", "1-aa"]])
    }

    @Test func `rows are reduced, for each key and for all`() throws {
        let database = try library()
        let counted = byYear.reduced(.count)
        #expect(try database.reduce(counted) == 4)
        #expect(try database.reduce(counted, in: .key(1)) == nil)
        let groups = try database.groups(of: counted)
        #expect(groups.map(\.key) == [1984, 1999, 2001])
        #expect(groups.map(\.value) == [2, 1, 1])
        let longest = byYear.reduced(
            .custom("longest", version: 1, reduce: { $0.map(\.count).max() ?? 0 }, combine: { $0.max() ?? 0 }))
        #expect(try database.reduce(longest) == 1)
        let decades = MapIndex<[Int], Double>("decades", version: 1) { book, emit in
            if let year = book["year"]?.int { emit([year / 10 * 10, year], Double(year)) }
        }
        let statistics = try database.groups(of: decades.reduced(.statistics), byFirst: 1)
        #expect(statistics.map(\.key) == [[1980], [1990], [2000]])
        #expect(statistics.first?.value.sum == 3968)
        #expect(
            try database.groups(of: decades.reduced(.sum), byFirst: 1, in: .all.reversed()).map(\.value) == [
                2001, 1999, 3968,
            ])
    }

    @Test func `numbers below zero are accepted as zero`() throws {
        let database = try library()
        let decades = MapIndex<[Int], Int>("decades", version: 1) { book, emit in
            if let year = book["year"]?.int { emit([year / 10 * 10, year], 1) }
        }
        for count in [0, -1, Int.min] {
            let groups = try database.groups(of: decades.reduced(.count), byFirst: count)
            #expect(groups.map(\.key) == [[]] && groups.map(\.value) == [4])
            #expect(try database.rows(of: byYear, in: .all.prefix(count)).isEmpty)
            #expect(try database.rows(of: byYear, in: .all.dropFirst(count)).count == 4)
            #expect(try database.count(of: byYear, in: .all.dropFirst(count)) == 4)
            #expect(try database.groups(of: byYear.reduced(.count), in: .all.dropFirst(count)).count == 3)
        }
    }

    private static func letters(_ texts: [String]) -> String { String(texts.joined(separator: "").sorted()) }

    @Test func `a reduction is that of the rows of its range, by several keys and with a limit too`() throws {
        let database = try library()
        let counted = byYear.reduced(.count)
        let titles = byYear.reduced(
            .custom("titles", version: 1, reduce: { Self.letters($0) }, combine: { Self.letters($0) }))
        let ranges: [MapIndexRange<Int>] = [
            .keys([2001, 1984]), .keys([1, 1999, 1984]), .keys([1984, 1984]), .keys([1984, 2001]).dropFirst(1),
            .keys([2001, 1984]).prefix(2), .all.prefix(3), .all.dropFirst(1), .from(1999).reversed().prefix(1),
        ]
        for range in ranges {
            let values = try database.rows(of: byYear, in: range).map(\.value)
            #expect(try database.reduce(counted, in: range) == values.count, "\(range)")
            #expect(try database.reduce(titles, in: range) == Self.letters(values), "\(range)")
        }
        for range in [.keys([]), .keys([1, 2]), .all.dropFirst(4), .all.prefix(0)] as [MapIndexRange<Int>] {
            #expect(try database.reduce(counted, in: range) == nil, "\(range)")
        }
        #expect(try database.groups(of: counted, in: .all.dropFirst(1).prefix(1)).map(\.key) == [1999])
    }

    @Test func `another version of a reduction replaces the file of the earlier one`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.settle"
        let database = try Database.create(path)
        defer { database.close() }
        try database.save(Document(id: "a", body: ["year": 1984, "title": "A"]), onConflict: .fail)
        func files() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: path + "/views").filter { $0.hasSuffix(".index") }.count
        }
        func reduce(_ name: String, version: Int) throws -> String? {
            let titles = Reduction<String, String>.custom(
                name, version: version, reduce: { Self.letters($0) }, combine: { Self.letters($0) })
            return try database.reduce(byYear.reduced(titles))
        }
        #expect(try database.rows(of: byYear).count == 1)
        #expect(try database.reduce(byYear.reduced(.count)) == 1)
        #expect(try reduce("titles", version: 1) == "A")
        #expect(try reduce("titles of books", version: 1) == "A")
        #expect(try files() == 4)
        #expect(try reduce("titles", version: 2) == "A")
        #expect(try files() == 4)
        #expect(try reduce("titles", version: 1) == "A")
        #expect(try files() == 4)
    }

    @Test(.timeLimit(.minutes(5))) func `a live view delivers its rows, then each change of them`() async throws {
        let database = try library()
        var iterator = database.observe(byYear, in: .from(2000)).makeAsyncIterator()
        #expect(try await iterator.next()?.map(\.id) == ["b"])
        // It has no row in the range.
        try database.save(Document(id: "old", body: ["year": 1900]), onConflict: .fail)
        try database.save(Document(id: "new", body: ["year": 2030]), onConflict: .fail)
        #expect(try await iterator.next()?.map(\.id) == ["b", "new"])
        database.close()
        #expect(try await iterator.next() == nil)
    }

    @Test(.timeLimit(.minutes(5))) func `a live view delivers a key that is only spelled differently`() async throws {
        let database = try Database.plain()
        let byName = MapIndex<String, Int>("by name", version: 1) { document, emit in
            if let name = document["name"]?.string { emit(name, 0) }
        }
        try database.save(Document(id: "a", body: ["name": "Caf\u{E9}"]), onConflict: .fail)
        var iterator = database.observe(byName).makeAsyncIterator()
        #expect(try await iterator.next()?.map { $0.key.unicodeScalars.count } == [4])
        var document = try #require(try database.document("a"))
        document["name"] = .string("Cafe\u{301}")
        try database.save(document, onConflict: .fail)
        #expect(try await iterator.next()?.map { $0.key.unicodeScalars.count } == [5])
    }

    @Test func `a damaged index is rebuilt`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.settle"
        for round in 1...3 {
            var options = DatabaseOptions()
            options.warn = { _ in }
            let database = try Database.openOrCreate(path, options: options)
            let id = DocumentID(stringLiteral: "r\(round)")
            try database.save(Document(id: id, body: ["year": 1, "title": "T"]), onConflict: .fail)
            #expect(try database.rows(of: byYear).count == round)
            database.close()
            let files = try FileManager.default.contentsOfDirectory(atPath: path + "/views")
            for file in files {
                let url = URL(filePath: path + "/views/" + file)
                var bytes = try Data(contentsOf: url)
                let kept = round == 1 ? 0 : 4096
                bytes.replaceSubrange(
                    min(kept, bytes.count)..., with: Data(repeating: 0xA5, count: max(bytes.count - kept, 0)))
                try bytes.write(to: url)
            }
        }
    }

    @Test func `an index is reused when the database is opened again`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.settle"
        let mapped = Counter()
        let view = MapIndex<String, Int>("counted", version: 1) { document, emit in
            mapped.add(1)
            emit(document.id.string, 1)
        }
        for round in 1...3 {
            let database = try Database.openOrCreate(path)
            try database.save(Document(id: DocumentID(stringLiteral: "r\(round)")), onConflict: .fail)
            #expect(try database.count(of: view) == round)
            database.close()
        }
        #expect(mapped.value == 3)
    }
}
