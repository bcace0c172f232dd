import Foundation
import Measuring
import Settle
import SettleDatabase

struct StoreComparison {
    let count: Int
    let measuring: Measuring
    let folder: String
    private let ids: [DocumentID]
    private let rawIDs: [[UInt8]]
    private let bodies: [[UInt8]]
    private let updates: [[UInt8]]
    private let order: [Int]

    init(count: Int, measuring: Measuring, folder: String) throws {
        self.count = count
        self.measuring = measuring
        self.folder = folder
        ids = try (0..<count).map { try DocumentID(validating: Sample.id($0)) }
        rawIDs = ids.map { Array($0.string.utf8) }
        bodies = (0..<count).map { Sample.body($0) }
        updates = (0..<count).map { Sample.body($0, version: 2) }
        var generator = SystemRandomNumberGenerator()
        order = Array(0..<count).shuffled(using: &generator)
    }

    func run() throws {
        let bytes = bodies.reduce(0) { $0 + $1.count } / count
        print("\(count) documents of \(bytes) bytes, medians of \(measuring.runs) runs, per second\n")
        print(Measuring.pad("", 34), Measuring.pad("floor", 10), Measuring.pad("settle", 10), "ratio")
        try singles(durability: .normal)
        try singles(durability: .full)
        var floorTimes: [String: [Double]] = [:]
        var settleTimes: [String: [Double]] = [:]
        var sizes: (floor: Int64, settle: Int64) = (0, 0)
        for run in 0..<measuring.runs {
            let floorPath = folder + "/floor-\(run).sqlite"
            let settlePath = folder + "/settle-\(run).settle"
            for (name, seconds) in try floorRound(floorPath, &sizes.floor) {
                floorTimes[name, default: []].append(seconds)
            }
            for (name, seconds) in try settleRound(settlePath, &sizes.settle) {
                settleTimes[name, default: []].append(seconds)
            }
            try? FileManager.default.removeItem(atPath: floorPath)
            try? FileManager.default.removeItem(atPath: settlePath)
        }
        let goals: [(String, Double?)] = [
            ("bulk insert, batches of 1,000", 0.6), ("the same by saveAll", 0.6), ("random get", 0.75),
            ("scan of changes with bodies", 0.35),
            ("update each, one transaction", nil), ("the same, the floor keeping old bodies", 0.57),
        ]
        for (name, goal) in goals {
            print(
                Measuring.row(
                    name, count: count, floor: floorTimes[name] ?? [], settle: settleTimes[name] ?? [], goal: goal))
        }
        let size = Double(sizes.settle) / Double(sizes.floor)
        print(
            "\nfile size after bulk insert: floor \(sizes.floor), settle \(sizes.settle), \(Measuring.fixed(size, 2)) × (≤ 1.35)"
        )
        let opening = Measuring.median(settleTimes["open"] ?? []) / Measuring.median(floorTimes["open"] ?? [])
        print(
            """
            opening: floor \(Measuring.fixed(Measuring.median(floorTimes["open"] ?? []) * 1e6, 0)) µs, settle \
            \(Measuring.fixed(Measuring.median(settleTimes["open"] ?? []) * 1e6, 0)) µs, \(Measuring.fixed(opening, 2)) × (≤ 5)
            """)
    }

    private func floorRound(_ path: String, _ size: inout Int64) throws -> [(String, Double)] {
        var times: [(String, Double)] = []
        do {
            let floor = Floor(path: path)
            times.append(
                (
                    "bulk insert, batches of 1,000",
                    measuring.seconds {
                        for start in stride(from: 0, to: count, by: 1000) {
                            floor.run("BEGIN IMMEDIATE")
                            for index in start..<min(start + 1000, count) { floor.insert(rawIDs[index], bodies[index]) }
                            floor.run("COMMIT")
                        }
                    }
                ))
        }
        times.append(("the same by saveAll", times.last?.1 ?? 0))
        size = fileSize(path)
        var opened: Floor?
        times.append(
            (
                "open",
                measuring.seconds {
                    opened = Floor(path: path)
                    _ = opened?.get(rawIDs[0])
                }
            ))
        guard let floor = opened else { return times }
        times.append(("random get", measuring.seconds { for index in order { _ = floor.get(rawIDs[index]) } }))
        times.append(("scan of changes with bodies", measuring.seconds { _ = floor.scan() }))
        times.append(
            (
                "update each, one transaction",
                measuring.seconds {
                    floor.run("BEGIN IMMEDIATE")
                    for index in 0..<count {
                        _ = floor.get(rawIDs[index])
                        floor.update(rawIDs[index], updates[index])
                    }
                    floor.run("COMMIT")
                }
            ))
        times.append(
            (
                "the same, the floor keeping old bodies",
                measuring.seconds {
                    floor.run("BEGIN IMMEDIATE")
                    for index in 0..<count { floor.supersede(rawIDs[index], bodies[index]) }
                    floor.run("COMMIT")
                }
            ))
        return times
    }

    private func settleRound(_ path: String, _ size: inout Int64) throws -> [(String, Double)] {
        var times: [(String, Double)] = []
        do {
            let database = try Database.create(path)
            times.append(
                (
                    "bulk insert, batches of 1,000",
                    try measuring.seconds {
                        for start in stride(from: 0, to: count, by: 1000) {
                            try database.transaction {
                                for index in start..<min(start + 1000, count) {
                                    let body = try DocumentBody(utf8: bodies[index])
                                    try database.save(Document(id: ids[index], body: body), onConflict: .fail)
                                }
                            }
                        }
                    }
                ))
            database.close()
        }
        size = fileSize(path + "/database.sqlite")
        times.append(("the same by saveAll", try saveAllRound(path + "-all")))
        var opened: Database?
        times.append(
            (
                "open",
                try measuring.seconds {
                    opened = try Database.open(path)
                    _ = try opened?.document(ids[0])
                }
            ))
        guard let database = opened else { return times }
        times.append(
            ("random get", try measuring.seconds { for index in order { _ = try database.document(ids[index]) } }))
        times.append(
            (
                "scan of changes with bodies",
                try measuring.seconds {
                    var total = 0
                    // Each change is rejected once it is counted, so that none is kept in memory.
                    _ = try database.changes(includingDocuments: true) { change in
                        total += change.document == nil ? 0 : 1
                        return false
                    }
                    precondition(total == count)
                }
            ))
        times.append(
            (
                "update each, one transaction",
                try measuring.seconds {
                    try database.transaction {
                        for index in 0..<count {
                            guard var document = try database.document(ids[index]) else { continue }
                            document.setBody(try DocumentBody(utf8: updates[index]))
                            try database.save(document, onConflict: .fail)
                        }
                    }
                }
            ))
        times.append(("the same, the floor keeping old bodies", times.last?.1 ?? 0))
        database.close()
        return times
    }

    /// The seconds of the same inserts by calls that get a batch at once, so that other cores can help.
    private func saveAllRound(_ path: String) throws -> Double {
        let database = try Database.create(path)
        defer {
            database.close()
            try? FileManager.default.removeItem(atPath: path)
        }
        return try measuring.seconds {
            for start in stride(from: 0, to: count, by: 1000) {
                let batch = try (start..<min(start + 1000, count)).map { index in
                    Document(id: ids[index], body: try DocumentBody(utf8: bodies[index]))
                }
                for outcome in try database.saveAll(batch) { _ = try outcome.get() }
            }
        }
    }

    private func singles(durability: Durability) throws {
        let amount = min(count, durability == .full ? 2000 : 20_000)
        var round = 0
        let (floor, settle) = try measuring.pair {
            let floor = Floor(path: folder + "/single-floor-\(durability)-\(round).sqlite", full: durability == .full)
            return measuring.seconds {
                for index in 0..<amount {
                    floor.run("BEGIN IMMEDIATE")
                    floor.insert(rawIDs[index], bodies[index])
                    floor.run("COMMIT")
                }
            }
        } _: {
            var options = DatabaseOptions()
            options.durability = durability
            let database = try Database.create(folder + "/single-\(durability)-\(round).settle", options: options)
            round += 1
            let seconds = try measuring.seconds {
                for index in 0..<amount {
                    let body = try DocumentBody(utf8: bodies[index])
                    try database.save(Document(id: ids[index], body: body), onConflict: .fail)
                }
            }
            database.close()
            return seconds
        }
        let name = "one insert a transaction, \(durability)"
        let goal = durability == .normal ? 0.85 : nil
        print(Measuring.row(name, count: amount, floor: floor, settle: settle, goal: goal))
    }

    private func fileSize(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
