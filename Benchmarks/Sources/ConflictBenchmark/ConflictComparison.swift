import Foundation
import Measuring
import Settle
import SettleCore

/// Settling, listing and merging, each timed alone.
struct ConflictComparison {
    let count: Int
    let measuring: Measuring
    let folder: String
    private let samples: [ConflictSample]
    private let policy = ConflictPolicy.threeWayMerge()

    init(count: Int, measuring: Measuring, folder: String) throws {
        self.count = count
        self.measuring = measuring
        self.folder = folder
        samples = try (0..<count).map { try ConflictSample($0) }
    }

    func run() throws {
        let bytes = samples.reduce(0) { $0 + $1.base.utf8.count } / count
        print("\(count) conflicts of two branches on a base of \(bytes) bytes, one in five with a clash,")
        print("medians of \(measuring.runs) runs, documents per second\n")
        print(Measuring.pad("", 34), Measuring.pad("floor", 10), Measuring.pad("settle", 10), "ratio")
        try settling(.normal, amount: count)
        try settling(.full, amount: min(count, 2000))
        try merging()
        try listing(documents: 100_000, conflicts: 100)
    }

    /// `settleAll` by three-way merge, against SQLite alone reading and writing the same.
    func settling(_ durability: Durability, amount: Int) throws {
        var options = DatabaseOptions()
        options.durability = durability
        var round = 0
        var inPolicy: [Double] = []
        let (floor, settle) = try measuring.pair {
            let path = folder + "/floor-\(durability)-\(round).sqlite"
            defer { remove(path) }
            return try floorRound(path, durability, amount)
        } _: {
            let path = folder + "/settle-\(durability)-\(round).settle"
            round += 1
            defer { remove(path) }
            let database = try Database.create(path, options: options)
            defer { database.close() }
            try fill(database, amount)
            var report = SettlementReport?.none
            let seconds = try measuring.seconds { report = try database.settleAll(using: policy) }
            precondition(report?.settled == amount && report?.revisionsWritten == 2 * amount)
            inPolicy.append(Self.seconds(report?.timeInPolicy ?? .zero) / Double(amount))
            return seconds
        }
        let goal = durability == .normal ? 0.65 : nil
        print(Measuring.row("settle all, \(durability)", count: amount, floor: floor, settle: settle, goal: goal))
        let microseconds = Measuring.median(inPolicy) * 1e6
        print("    of it in the policy: \(Measuring.fixed(microseconds, 1)) µs a document")
    }

    /// Creates a database of conflicts, in batches.
    private func fill(_ database: Database, _ amount: Int) throws {
        for start in stride(from: 0, to: amount, by: 1000) {
            try database.transaction {
                for sample in samples[start..<min(start + 1000, amount)] { try insert(sample, into: database) }
            }
        }
    }

    private func insert(_ sample: ConflictSample, into database: Database) throws {
        var document = try database.save(Document(id: sample.id, body: sample.base), onConflict: .fail)
        guard let base = document.revision else { return }
        document.setBody(sample.here)
        try database.save(document, onConflict: .fail)
        try database.insertReplicated([sample.incoming(on: base)])
    }

    private func floorRound(_ path: String, _ durability: Durability, _ amount: Int) throws -> Double {
        let floor = ConflictFloor(path: path, full: durability == .full)
        let ids = samples[..<amount].map { Array($0.id.string.utf8) }
        let merged = try samples[..<amount].map { try Self.merge($0) }
        let closing = Array(#"{"$closed":"3-967a00dff5e02add41819138abb3284d"}"#.utf8)
        floor.execute("BEGIN IMMEDIATE")
        for (index, sample) in samples[..<amount].enumerated() {
            floor.insert(ids[index], winner: sample.here.utf8, apart: [sample.base.utf8, sample.there.utf8])
        }
        floor.execute("COMMIT")
        return measuring.seconds {
            for index in 0..<amount {
                let number = Int64(2 * index + 1)
                _ = floor.settle(ids[index], apart: [number, number + 1], result: merged[index], closing: closing)
            }
        }
    }

    private static func merge(_ sample: ConflictSample) throws -> [UInt8] {
        let outcome = ThreeWayMerge.merge(
            base: sample.base.json.object ?? JSONObject(),
            versions: [sample.here, sample.there].map { $0.json.object ?? JSONObject() }, rules: MergeRules())
        return try DocumentBody(.object(outcome.merged ?? JSONObject())).utf8
    }

    /// The merge on values, and with reading and writing the JSON.
    func merging() throws {
        let values = samples.map { sample in
            [sample.base, sample.here, sample.there].map { $0.json.object ?? JSONObject() }
        }
        func microseconds(_ name: String, _ body: () throws -> Void) rethrows {
            let times = try (0..<measuring.runs).map { _ in try measuring.seconds(body) }
            let time = Measuring.median(times) / Double(count) * 1e6
            print(Measuring.pad(name, 56), Measuring.fixed(time, 2), "µs")
        }
        print("")
        microseconds("three-way merge of values, a document") {
            for value in values {
                let outcome = ThreeWayMerge.merge(base: value[0], versions: Array(value[1...]), rules: MergeRules())
                precondition(outcome.merged != nil)
            }
        }
        try microseconds("the same from bytes to bytes") { for sample in samples { _ = try Self.merge(sample) } }
    }

    /// Finding a few conflicts among many documents.
    func listing(documents: Int, conflicts: Int) throws {
        let path = folder + "/listing.settle"
        defer { remove(path) }
        let database = try Database.create(path)
        defer { database.close() }
        for start in stride(from: 0, to: documents, by: 1000) {
            try database.transaction {
                for number in start..<min(start + 1000, documents) {
                    let (place, rest) = number.quotientAndRemainder(dividingBy: documents / conflicts)
                    if rest == 0 {
                        try insert(samples[place], into: database)
                    } else {
                        let id = try DocumentID(validating: "other-\(number)")
                        try database.save(Document(id: id, body: samples[number % count].base), onConflict: .fail)
                    }
                }
            }
        }
        let ids = try database.conflictedDocumentIDs()
        precondition(ids.count == conflicts)
        let rounds = max(101, measuring.runs)
        let list = try (0..<rounds).map { _ in try measuring.seconds { _ = try database.conflictedDocumentIDs() } }
        let read = try (0..<rounds).map { _ in
            var merges = 0
            let seconds = try measuring.seconds {
                for id in ids where try database.conflict(of: id)?.base != nil { merges += 1 }
            }
            precondition(merges == ids.count)
            return seconds
        }
        let milliseconds = Measuring.median(list) * 1e3
        print("\nlisting \(ids.count) conflicts among \(documents) documents, medians of \(rounds):")
        print(
            "conflictedDocumentIDs()  \(Measuring.fixed(milliseconds, 3)) ms (≤ 1 \(milliseconds <= 1 ? "reached" : "missed"))"
        )
        print("conflict(of:) of each    \(Measuring.fixed(Measuring.median(read) * 1e3, 3)) ms")
    }

    private func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}
