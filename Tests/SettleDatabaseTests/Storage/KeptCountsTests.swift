import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Sums that an engine keeps, compared with the documents read one by one. The parts are small, so that a few hundred documents
/// fill several levels.
@Suite struct KeptCountsTests {
    private static let small = CountSizes(bits: 2, capacity: 4, fan: 3)

    private static func engine(_ path: String?) throws -> SQLiteEngine {
        if let path { try SQLiteEngine.createIfMissing(path) }
        return try SQLiteEngine(path: path, durability: .normal, cacheBytes: 1 << 20, sizes: small)
    }

    private struct Nonsense: Error {}

    /// Random writes to one engine.
    private struct Run {
        var engine: SQLiteEngine
        var random: SeededRandom
        /// The ids that are in use; the more there are, the more levels.
        let ids: [DocumentID]
        var story: Comment = ""

        mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        /// Writes, changes or removes a few documents.
        mutating func write(to writer: any StorageWriter) throws {
            for _ in 0...number(6) {
                let id = ids[number(ids.count)]
                guard let found = try writer.record(of: id, withContent: true) else {
                    if number(3) == 0 {
                        try restore(record(id), to: writer)
                    } else {
                        _ = try writer.apply(.insert(record(id)))
                    }
                    continue
                }
                var changed = try record(id)
                changed.sequence = found.sequence
                switch number(6) {
                case 0: try writer.remove(found)
                case 1: try writer.updateTree(of: changed)
                default: try writer.put(changed)
                }
                if number(9) == 0 { _ = try writer.count(.live(DocumentRange())) }
            }
        }

        /// Writes a new document as a copy does, under a sequence that others may lie before.
        private mutating func restore(_ given: DocumentRecord, to writer: any StorageWriter) throws {
            var given = given
            let gap = [1, 1, 2, 5, 70, 3000][number(6)]
            given.sequence = UpdateSequence(try writer.lastSequence.number + Int64(gap))
            try engine.restore(given)
            if number(20) == 0 { try engine.restoreSequence(UpdateSequence(given.sequence.number + Int64(gap))) }
        }

        private mutating func record(_ id: DocumentID) throws -> DocumentRecord {
            var tree = RevisionTree()
            let kind = number(4)
            tree.insert(RevisionHistory(try RevisionID(validating: "1-a")), isDeleted: kind == 1)
            if kind == 2 { tree.insert(RevisionHistory(try RevisionID(validating: "1-b")), isDeleted: false) }
            return DocumentRecord(id: id, sequence: 0, tree: tree, content: RevisionContent(body: .empty))
        }

        mutating func step() throws {
            switch number(12) {
            case 0:
                try? engine.hold { writer in
                    try write(to: writer)
                    throw Nonsense()
                }
            case 1:
                try engine.hold { writer in
                    try write(to: writer)
                    try? writer.part {
                        try write(to: writer)
                        _ = try writer.count(.changes(SequenceRange()))
                        throw Nonsense()
                    }
                    try writer.part { try write(to: writer) }
                    try compare(writer)
                }
            case 2: _ = try engine.maintain(.reclaimSpace)
            default: try engine.hold { try write(to: $0) }
            }
        }

        /// Compares every count of a random range.
        mutating func compare(_ reader: any StorageReader) throws {
            var range = DocumentRange(descending: number(2) == 0)
            if number(3) > 0 { range.from = ids[number(ids.count)] }
            if number(3) == 0 { range.after = ids[number(ids.count)] }
            if number(3) == 0 { range.through = ids[number(ids.count)] }
            if number(3) > 0 { range.before = ids[number(ids.count)] }
            let all = try reader.records(.documents(range), limit: .max, withContent: false)
            let live = all.filter { !$0.tree.isDeleted }
            #expect(try reader.count(.documents(range)) == all.count, story)
            #expect(try reader.count(.live(range)) == live.count, story)
            #expect(try reader.count(.deleted(range)) == all.count - live.count, story)
            #expect(try reader.count(.conflicted(.branches, range)) == live.count { $0.tree.isConflicted }, story)
            #expect(
                try reader.records(.live(range), limit: .max, withContent: false).map(\.id) == live.map(\.id), story)
            let place = number(live.count + 1)
            #expect(try reader.liveID(at: place, in: range) == live.dropFirst(place).first?.id, story)
            let newest = try Int(reader.lastSequence.number)
            let (after, through) = (number(newest + 2), number(newest + 2))
            let changes = SequenceRange(
                after: UpdateSequence(Int64(after)), through: UpdateSequence(number(2) == 0 ? .max : Int64(through)))
            let changed = try reader.records(changedIn: changes, limit: .max, withContent: false).count
            #expect(try reader.count(.changes(changes)) == changed, story)
        }
    }

    @Test(arguments: Kinds.all)
    func `counts are what a recount finds, whatever is written, undone or compacted`(place: DatabaseKind) throws {
        let folder = try TemporaryFolder()
        let path = place == .memory ? nil : folder.path("a.sqlite")
        for round in 0..<6 {
            let seed = SeededRandom.seed &+ UInt64(round)
            let ids = (0..<[3, 40, 400][round % 3]).map { DocumentID(unchecked: "\($0 * 7919 % 1000)") }
            var run = Run(
                engine: try Self.engine(path.map { "\($0)\(round)" }), random: SeededRandom(seed: seed), ids: ids)
            defer { run.engine.close() }
            for step in 0..<150 {
                run.story = "SETTLE_SEED=\(seed), step \(step)"
                try run.step()
                try run.engine.snapshot { try run.compare($0) }
                #expect(try run.engine.maintain(.check).problems == [], run.story)
            }
        }
    }

    private static func record(_ id: Int) throws -> DocumentRecord {
        var tree = RevisionTree()
        tree.insert(RevisionHistory(try RevisionID(validating: "1-a")), isDeleted: id % 10 == 0)
        let content = RevisionContent(body: .empty)
        return DocumentRecord(id: DocumentID(unchecked: "\(id)"), sequence: 0, tree: tree, content: content)
    }

    private static func fill(_ engine: SQLiteEngine, _ count: Int) throws {
        try engine.hold { writer in
            for id in 0..<count { _ = try writer.apply(.insert(record(id))) }
        }
    }

    @Test func `a file of format 3 gets its counts when it is opened`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        try SQLiteEngine.createIfMissing(path)
        let old = try SQLiteEngine(path: path, durability: .normal, cacheBytes: 1 << 20)
        try Self.fill(old, 5000)
        old.close()
        try SQLiteConnection(path: path).execute(
            """
            DROP TABLE sequence_counts; DROP TABLE id_counts; ALTER TABLE documents DROP COLUMN counted;
            PRAGMA user_version = 3;
            """)
        let engine = try SQLiteEngine(path: path, durability: .normal, cacheBytes: 1 << 20)
        defer { engine.close() }
        #expect(try engine.maintain(.check).problems == [])
        #expect(try engine.read { try $0.counts() } == DocumentCounts(live: 4500, deleted: 500))
        try engine.hold { writer in
            for id in 4900..<5100 {
                var record = try Self.record(id)
                guard let found = try writer.record(of: record.id, withContent: false) else {
                    _ = try writer.apply(.insert(record))
                    continue
                }
                record.sequence = found.sequence
                try writer.put(record)
            }
        }
        #expect(try engine.read { try $0.counts() } == DocumentCounts(live: 4590, deleted: 510))
        #expect(try engine.read { try $0.count(.changes(SequenceRange(after: 4990))) } == 200)
        #expect(try engine.maintain(.check).problems == [])
    }

    @Test(arguments: [
        "UPDATE sequence_counts SET documents = documents + 1 WHERE level = 1 AND bucket = 2",
        "DELETE FROM sequence_counts WHERE level = 0 AND bucket = 7",
        "UPDATE id_counts SET deleted = 0, plain = plain + deleted WHERE level = 1",
        "UPDATE id_counts SET plain = plain + 2 WHERE level = 0 AND first > x'33'",
        "DELETE FROM id_counts WHERE level = 0 AND first > x'34'",
    ])
    func `damaged counts are found, and compaction makes them anew`(damage: String) throws {
        let engine = try Self.engine(nil)
        defer { engine.close() }
        try Self.fill(engine, 300)
        #expect(try engine.maintain(.check).problems == [])
        try engine.hold { try #require($0 as? SQLiteWriter).connection.execute(damage) }
        let problems = try engine.maintain(.check).problems
        #expect(problems.count == 1)
        #expect(problems.first?.contains("kept counts are not what the documents add up to") == true)
        _ = try engine.maintain(.reclaimSpace)
        #expect(try engine.maintain(.check).problems == [])
        #expect(try engine.read { try $0.counts() } == DocumentCounts(live: 270, deleted: 30))
    }

    @Test(arguments: [
        "UPDATE id_counts SET deleted = 9223372036854775807",
        "UPDATE id_counts SET plain = 9223372036854775805",
        "UPDATE id_counts SET plain = 5000000000000000000",
        "UPDATE sequence_counts SET documents = 9223372036854775807 WHERE level = 0",
        "UPDATE sequence_counts SET documents = -9223372036854775808 WHERE level = -1",
        "DELETE FROM sequence_counts WHERE level = -1",
    ])
    func `impossible counts don't crash, and compaction computes them again`(damage: String) throws {
        // The sums have the first 128 of them.
        try Self.expectRepair(of: damage, in: 130, adding: 200) { path in
            try SQLiteEngine.createIfMissing(path)
            return try SQLiteEngine(path: path, durability: .normal, cacheBytes: 1 << 20)
        }
    }

    @Test(arguments: [
        "UPDATE sequence_counts SET documents = 9223372036854775807 WHERE level >= 0",
        "UPDATE id_counts SET plain = 9223372036854775807", "DELETE FROM sequence_counts WHERE level = -1",
    ])
    func `several impossible sums stop neither a check, nor a read, nor a write`(damage: String) throws {
        try Self.expectRepair(of: damage, in: 300, adding: 300) { path in try Self.engine(path) }
    }

    /// Expects that damaged counts are found, that reads and writes go on, and that compaction computes the counts again.
    private static func expectRepair(
        of damage: String, in count: Int, adding more: Int, open: (_ path: String) throws -> SQLiteEngine
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let sound = try open(path)
        try fill(sound, count)
        sound.close()
        try SQLiteConnection(path: path).execute(damage)
        let engine = try open(path)
        defer { engine.close() }
        #expect(try engine.maintain(.check).problems.count == 1)
        try engine.snapshot { reader in
            _ = try (reader.counts(), reader.count(.changes(SequenceRange())))
            _ = try reader.liveID(at: 60, in: DocumentRange())
        }
        try engine.hold { writer in
            for id in count..<count + more { _ = try writer.apply(.insert(record(id))) }
        }
        _ = try engine.maintain(.reclaimSpace)
        #expect(try engine.maintain(.check).problems == [])
        let deleted = (count + more) / 10
        #expect(try engine.read { try $0.counts() } == DocumentCounts(live: count + more - deleted, deleted: deleted))
    }

    @Test(arguments: [
        "DELETE FROM sequence_counts WHERE level = 0 AND bucket = 7",
        "UPDATE id_counts SET deleted = 0, plain = 0",
    ])
    func `a write that finds the counts damaged makes them anew`(damage: String) throws {
        let engine = try Self.engine(nil)
        defer { engine.close() }
        try Self.fill(engine, 300)
        try engine.hold { try #require($0 as? SQLiteWriter).connection.execute(damage) }
        try engine.hold { writer in
            for id in 0..<100 {
                let found = try #require(try writer.record(of: DocumentID(unchecked: "\(id)"), withContent: false))
                try writer.remove(found)
            }
        }
        #expect(try engine.maintain(.check).problems == [])
        #expect(try engine.read { try $0.counts() } == DocumentCounts(live: 180, deleted: 20))
    }
}
