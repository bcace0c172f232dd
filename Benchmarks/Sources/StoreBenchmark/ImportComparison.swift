import CFloor
import Foundation
import Measuring
import Settle

/// Imports of documents whose ids are random, in batches of 1,000, and how their rate falls with the size of the database: Settle,
/// the floor with the same index of ids, and a floor whose newest ids have an index of their own that is merged, sorted, into the
/// large one.
struct ImportComparison {
    let count: Int
    let folder: String
    private let bodies = (0..<1000).map { Sample.body($0) }

    /// An id of 16 hexadecimal digits; the ids of consecutive numbers are far apart.
    private static func id(_ number: Int) -> String {
        let text = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    func run() throws {
        print("import of random ids, documents a second near each size, batches of 1,000\n")
        let floor = try rates("floor") { path in
            let floor = Floor(path: path)
            return { batch in
                floor.run("BEGIN IMMEDIATE")
                for number in batch { floor.insert(Array(Self.id(number).utf8), bodies[number % 1000]) }
                floor.run("COMMIT")
            }
        }
        let merging = try rates("merging") { path in
            let floor = MergingFloor(path: path)
            return { batch in
                floor.insert(batch.map { (Array(Self.id($0).utf8), bodies[$0 % 1000]) })
            }
        }
        let settle = try rates("settle") { path in
            let database = try Database.create(path)
            return { batch in
                try database.transaction {
                    for number in batch {
                        let body = try DocumentBody(utf8: bodies[number % 1000])
                        try database.save(
                            Document(id: try DocumentID(validating: Self.id(number)), body: body), onConflict: .fail)
                    }
                }
            }
        }
        print(["documents  ", "floor    ", "merging  ", "settle   ", "ratio"].joined(separator: " "))
        for (index, row) in floor.enumerated() {
            let rates = [row.rate, merging[index].rate, settle[index].rate]
            let figures = rates.map { Measuring.pad(Measuring.short($0), 9) }
            let ratio = Measuring.fixed(settle[index].rate / row.rate, 2)
            print(Measuring.pad(String(row.size), 11), figures.joined(separator: " "), ratio)
        }
    }

    /// The rates of the last tenth before each size.
    private func rates(
        _ name: String, _ open: (String) throws -> (Range<Int>) throws -> Void
    ) throws -> [(size: Int, rate: Double)] {
        let path = "\(folder)/\(name)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let write = try open(path)
        var (rates, size) = ([(size: Int, rate: Double)](), 100_000)
        var began = Date()
        for start in stride(from: 0, to: count, by: 1000) {
            if start == size * 9 / 10 { began = Date() }
            try write(start..<start + 1000)
            if start + 1000 == size {
                rates.append((size, Double(size) / 10 / Date().timeIntervalSince(began)))
                FileHandle.standardError.write(Data("\(name) \(size) \(Int(rates[rates.count - 1].rate))\n".utf8))
                size = size * 10 > count && size < count ? count : size * 10
            }
        }
        return rates
    }
}
