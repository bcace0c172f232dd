import Foundation
import Measuring
import Settle

/// What live queries cost while documents are written, and what an order without an index costs.
struct LiveCosts {
    let documents: Int

    private struct Item: Codable, Sendable {
        var n: Int
        var group: Int
    }

    func run() async throws {
        let database = try Database.inMemory()
        for start in stride(from: 0, to: documents, by: 1000) {
            try database.transaction {
                for number in start..<min(start + 1000, documents) { try database.save(FindBenchmark.document(number)) }
            }
        }
        print("\(documents) documents")
        let query = DocumentQuery<Item>().where { $0.group == 7 }
        try await follow(database, nil, of: "50 writes without a live query", by: 1)
        try await follow(database, query, of: "50 writes of other documents, one live query", by: 1)
        try await follow(database, query, of: "50 writes of documents in its result", by: 7)
        for (name, sorted) in [
            ("sorted without an index, the first 100", DocumentQuery<Item>().sorted(by: "n").prefix(100)),
            (
                "sorted without an index, all of one in ten",
                DocumentQuery<Item>().where { $0.group < 10 }.sorted(by: "n")
            ),
        ] {
            let seconds = try Measuring(runs: 5).seconds { _ = try database.find(sorted) }
            print(Measuring.pad(name, 50), Measuring.short(seconds * 1000), "ms")
        }
    }

    /// Prints the processor's time of 50 writes, one every 10 ms, while a query is followed.
    private func follow(
        _ database: Database, _ query: DocumentQuery<Item>?, of name: String, by group: Int
    ) async throws {
        let follower = Task {
            guard let query else { return }
            for try await _ in database.observe(query) {}
        }
        try await Task.sleep(for: .milliseconds(500))
        let before = Self.processorSeconds
        for number in 0..<50 {
            let id = try DocumentID(validating: "doc\(10_000_000 + number * 100 + group)")
            try database.update(id) { $0["touched"] = .number(JSONNumber(number)) }
            try await Task.sleep(for: .milliseconds(10))
        }
        print(Measuring.pad(name, 50), Measuring.short((Self.processorSeconds - before) * 1000), "ms of CPU")
        follower.cancel()
        _ = await follower.result
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
