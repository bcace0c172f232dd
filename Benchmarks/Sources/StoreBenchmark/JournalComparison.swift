import Foundation
import Measuring
import Settle

/// The cost of a journal: the same writes without and with it, alternately.
struct JournalComparison {
    let count: Int
    let measuring: Measuring
    let folder: String

    func run() throws {
        print("\nsaving with a journal, seconds without and with it (goal: ≤ 1.5 ×)")
        try compare("single saves", min(count, 20_000)) { database, bodies in
            for (id, body) in bodies { try database.save(Document(id: id, body: body), onConflict: .fail) }
        }
        try compare("single saves, full durability", min(count, 2000), durability: .full) { database, bodies in
            for (id, body) in bodies { try database.save(Document(id: id, body: body), onConflict: .fail) }
        }
        try compare("batches of 1,000", count) { database, bodies in
            for start in stride(from: 0, to: bodies.count, by: 1000) {
                try database.transaction {
                    for (id, body) in bodies[start..<min(start + 1000, bodies.count)] {
                        try database.save(Document(id: id, body: body), onConflict: .fail)
                    }
                }
            }
        }
        try compare("an update of each, single", min(count, 20_000), updates: true) { database, bodies in
            for (id, body) in bodies {
                guard var document = try database.document(id) else { continue }
                document.setBody(body)
                try database.save(document, onConflict: .fail)
            }
        }
    }

    private func compare(
        _ name: String, _ amount: Int, durability: Durability = .normal, updates: Bool = false,
        _ write: (Database, [(DocumentID, DocumentBody)]) throws -> Void
    ) throws {
        let ids = try (0..<amount).map { try DocumentID(validating: Sample.id($0)) }
        let first = try (0..<amount).map { try DocumentBody(utf8: Sample.body($0)) }
        let bodies = try updates ? (0..<amount).map { try DocumentBody(utf8: Sample.body($0, version: 2)) } : first
        var number = 0
        func time(_ journal: Bool) throws -> Double {
            number += 1
            let path = folder + "/journal-\(number).settle"
            defer { try? FileManager.default.removeItem(atPath: path) }
            var options = DatabaseOptions()
            options.durability = durability
            options.journal = journal
            let database = try Database.create(path, options: options)
            defer { database.close() }
            if updates {
                try database.transaction {
                    for (id, body) in zip(ids, first) {
                        try database.save(Document(id: id, body: body), onConflict: .fail)
                    }
                }
            }
            return try measuring.seconds { try write(database, Array(zip(ids, bodies))) }
        }
        let (without, with) = try measuring.pair({ try time(false) }, { try time(true) })
        let ratio = Measuring.median(with) / Measuring.median(without)
        print(
            Measuring.pad(name, 34), Measuring.fixed(Measuring.median(without), 3),
            Measuring.fixed(Measuring.median(with), 3), Measuring.fixed(ratio, 2), "×",
            ratio <= 1.5 ? "reached" : "missed")
    }
}
