import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleViews

/// Counts, places and reductions from the levels above a view's chunks.
struct DirectoryLevelTests {
    /// A row of the index as it should be.
    private struct Row: Equatable {
        let key: Int
        let id: String
        let value: Int
    }

    private static let functions = ["_sum", "_count", "_stats", "_first", "_last"]
    private static let definitions = [ViewDefinition(reducers: functions.compactMap { BuiltInReducer.named($0) })]
    /// Makes keys so long that a chunk has about four rows.
    private static let padding = String(repeating: "x", count: 1500)

    private static func key(_ number: Int) -> JSONValue { [.number(JSONNumber(number)), .string(padding)] }

    /// An index of small ranges, with the rows it should have.
    private struct Index {
        let writer: IndexWriter
        let reader: IndexReader
        var rows: [Row] = []

        init(_ path: String, most: Int) throws {
            writer = try IndexWriter(
                IndexFile.open(path, .views), definitions: definitions, sizes: LevelSizes(most: most))
            reader = try IndexReader(path)
        }

        /// Replaces the rows of documents.
        mutating func apply(_ documents: [String: [Row]]) throws {
            let changes = documents.map { id, rows in
                let emissions = rows.map {
                    Emission(view: 0, key: DirectoryLevelTests.key($0.key).utf8, value: Array("\($0.value)".utf8))
                }
                return IndexChange(id: DocumentID(stringLiteral: id), emissions: emissions)
            }
            try writer.apply(changes, reaching: writer.state)
            rows.removeAll { documents[$0.id] != nil }
            rows += documents.values.joined()
            rows.sort { ($0.key, $0.id, $0.value) < ($1.key, $1.id, $1.value) }
        }

        func read<Result>(_ body: (IndexReading) throws -> Result) throws -> Result {
            try reader.snapshot { reader in
                try body(IndexReading(reader: reader, definitions: definitions, sequence: 0))
            }
        }

        /// The number of levels.
        func levels() throws -> Int { try reader.snapshot { try $0.directory.top(0) } + 1 }
    }

    /// Random edits: of some documents, of many, at the end, or of nearly all, which are removed.
    private static func edits(_ index: Index, _ generator: inout SeededRandom) -> [String: [Row]] {
        var edits: [String: [Row]] = [:]
        func row(_ id: String, _ keys: ClosedRange<Int>) -> Row {
            Row(
                key: Int.random(in: keys, using: &generator), id: id,
                value: Int.random(in: 0...999, using: &generator))
        }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            for id in Set(index.rows.map(\.id)) where Int.random(in: 0..<12, using: &generator) > 0 { edits[id] = [] }
        case 1:
            let from = Int.random(in: -10...210, using: &generator)
            let gone = index.rows.filter { from...(from + 60) ~= $0.key }.map(\.id)
            for id in gone { edits[id] = [] }
        case 2, 3:
            for number in 0..<60 {
                let id = "e\(index.rows.count)-\(number)"
                edits[id] = [row(id, 200...210)]
            }
        case 4, 5:
            for _ in 0..<60 {
                let id = "d\(Int.random(in: 0..<300, using: &generator))"
                edits[id] = (0..<Int.random(in: 0...3, using: &generator)).map { _ in row(id, 0...200) }
            }
        default:
            let id = "d\(Int.random(in: 0..<300, using: &generator))"
            edits[id] = [row(id, -5...100), row(id, 50...51), row(id, 50...51)]
        }
        return edits
    }

    /// Entries of upper levels that are not the sum of those in their range, that are too many, or none.
    private static func wrongEntries(_ path: String, most: Int) throws -> Int64? {
        try SQLiteConnection(path: path).integer(
            """
            WITH parts AS (
                SELECT level, count, (SELECT max(u.first) FROM directory u
                    WHERE u.level = d.level + 1 AND u.first <= d.first) AS above FROM directory d),
            sums AS (
                SELECT u.count <> ifnull(sum(p.count), 0) OR count(p.count) NOT BETWEEN 1 AND \(most) AS isWrong
                FROM directory u LEFT JOIN parts p ON p.level = u.level - 1 AND p.above = u.first
                WHERE u.level > 0 GROUP BY u.level, u.first
                UNION ALL SELECT count(*) > \(most) FROM directory WHERE level = (SELECT max(level) FROM directory)
                UNION ALL SELECT count(*) < 2 FROM directory WHERE level > 0 GROUP BY level)
            SELECT sum(isWrong) FROM sums
            """)
    }

    @Test(arguments: 1...3) func `counts, places and reductions equal those of all rows`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let most = [4, 6, 8][Int(seed % 3)]
        var index = try Index(folder.path + "/levels.index", most: most)
        var highest = 0
        for step in 0..<30 {
            try index.apply(Self.edits(index, &generator))
            highest = max(highest, try index.levels())
            #expect(try Self.wrongEntries(folder.path + "/levels.index", most: most) == 0, "seed \(seed), step \(step)")
            for _ in 0..<2 { try Self.compare(index, "seed \(seed), step \(step)", &generator) }
        }
        #expect(highest > 2)
        try index.apply(Dictionary(index.rows.map { ($0.id, []) }) { first, _ in first })
        #expect(try index.levels() == 1)
        #expect(try index.read { try $0.count(0) } == 0)
    }

    private static func compare(_ index: Index, _ place: String, _ generator: inout SeededRandom) throws {
        func bound() -> Int? {
            Bool.random(using: &generator) ? Int.random(in: -10...215, using: &generator) : nil
        }
        let descending = Bool.random(using: &generator)
        let (low, high) = (bound(), bound())
        let (start, end) = descending ? (high, low) : (low, high)
        let range = RowRange(start: start.map(key), end: end.map(key), descending: descending)
        let inside = index.rows.filter { (low ?? .min) <= $0.key && $0.key <= (high ?? .max) }
        let before = index.rows.filter { descending ? $0.key > (high ?? .max) : $0.key < (low ?? .min) }
        let isEmptyRange = low.map { low in high.map { low > $0 } ?? false } ?? false
        try index.read { reading in
            #expect(try reading.count(0) == index.rows.count, "\(place)")
            #expect(try reading.count(0, in: range) == inside.count, "\(place), \(start ?? -99) to \(end ?? -99)")
            if !isEmptyRange { #expect(try reading.offset(0, of: range) == before.count, "\(place)") }
            // Downward, rows of one document and one key are still read upward.
            let down = inside.sorted { left, right in
                (left.key, left.id) == (right.key, right.id)
                    ? left.value < right.value : (left.key, left.id) > (right.key, right.id)
            }
            let order = descending ? down : inside
            let skip = Int.random(in: 0...inside.count + 5, using: &generator)
            let limit = Int.random(in: 0...20, using: &generator)
            let rows = try reading.rows(0, in: range, skip: skip, limit: limit).map { row in
                Int(String(decoding: row.value, as: UTF8.self))
            }
            #expect(rows == order.dropFirst(skip).prefix(limit).map(\.value), "\(place), skip \(skip), limit \(limit)")
            let function = Int.random(in: functions.indices, using: &generator)
            for level in [GroupLevel.none, .elements(1), .exact] {
                try compare(reading, function, range, level, inside, place)
            }
        }
    }

    /// Compares reductions by a function with those of all rows at once.
    private static func compare(
        _ reading: IndexReading, _ number: Int, _ range: RowRange, _ level: GroupLevel, _ inside: [Row], _ place: String
    ) throws {
        let groups = level == .none ? [0: inside].filter { !$1.isEmpty } : Dictionary(grouping: inside, by: \.key)
        let keys = range.descending ? groups.keys.sorted(by: >) : groups.keys.sorted()
        var found: [String] = []
        var rest: RowRange? = range
        while let part = rest {
            let page = try reading.groups(0, by: number, in: part, level: level)
            found += page.groups.map { String(decoding: $0.value, as: UTF8.self) }
            rest = page.rest
        }
        let expected = keys.map { reduction(functions[number], groups[$0] ?? []) }
        #expect(found == expected, "\(place), \(functions[number]) by \(level)")
    }

    private static func reduction(_ function: String, _ rows: [Row]) -> String {
        let values = rows.map(\.value)
        let sum = values.reduce(0, +)
        switch function {
        case "_sum": return "\(sum)"
        case "_count": return "\(rows.count)"
        case "_first": return "\(values.first ?? 0)"
        case "_last": return "\(values.last ?? 0)"
        default:
            let squares = values.reduce(0) { $0 + $1 * $1 }
            let (least, greatest) = (values.min() ?? 0, values.max() ?? 0)
            return "{\"sum\":\(sum),\"count\":\(rows.count),\"min\":\(least),\"max\":\(greatest),\"sumsqr\":\(squares)}"
        }
    }

    @Test(arguments: ["count = count + 1", "count = -7", "count = 9223372036854775807"])
    func `an index whose sums are damaged is built anew`(damage: String) throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path + "/rows.settle")
        let view = MapIndex<Int, String>("long", version: 1) { document, emit in
            emit(document["n"]?.int ?? 0, String(repeating: "x", count: 3000))
        }
        try database.transaction {
            for number in 0..<800 {
                let id = DocumentID(stringLiteral: "r\(number)")
                try database.save(Document(id: id, body: ["n": .number(JSONNumber(number))]), onConflict: .fail)
            }
        }
        #expect(try database.count(of: view, in: .from(700)) == 100)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/rows.settle/views")
        let path = folder.path + "/rows.settle/views/" + (try #require(files.first { $0.hasSuffix(".index") }))
        let connection = try SQLiteConnection(path: path)
        #expect(try connection.integer("SELECT count(*) FROM directory WHERE level = 1") ?? 0 > 1)
        try connection.execute("UPDATE directory SET \(damage) WHERE level = 1")
        let error = #expect(throws: DatabaseError.self) { try database.count(of: view, in: .from(700)) }
        #expect(error?.code == .corrupt)
        #expect(try database.count(of: view, in: .from(700)) == 100)
        #expect(try database.rows(of: view, in: .all.dropFirst(790)).map(\.key) == Array(790..<800))
    }

    @Test func `a chunk with another number of rows than its entry says is found`() throws {
        let folder = try TemporaryFolder()
        var index = try Index(folder.path + "/levels.index", most: 4)
        var documents: [String: [Row]] = [:]
        for number in 0..<40 { documents["d\(number)"] = [Row(key: number, id: "d\(number)", value: 1)] }
        try index.apply(documents)
        try SQLiteConnection(path: folder.path + "/levels.index").execute("UPDATE chunks SET rows = x''")
        let error = #expect(throws: DatabaseError.self) {
            try index.read { try $0.rows(0, in: RowRange(), limit: 1).count }
        }
        #expect(error?.code == .corrupt)
    }
}
