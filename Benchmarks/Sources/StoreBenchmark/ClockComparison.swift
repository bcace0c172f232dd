import Foundation
import Measuring
import Settle

/// The cost of stamping changes: saves with attribute clocks off and on, alternately in the same run.
struct ClockComparison {
    let count: Int
    let measuring: Measuring

    func run() throws {
        print("\(count) saves of about 500 bytes, in memory, attribute clocks off and on, per second\n")
        print(Measuring.pad("", 34), Measuring.pad("off", 10), Measuring.pad("on", 10), "ratio")
        for kind in Kind.allCases {
            let (off, on) = try measuring.pair {
                try seconds(kind, hasClocks: false)
            } _: {
                try seconds(kind, hasClocks: true)
            }
            print(Measuring.row(kind.rawValue, count: count, floor: off, settle: on, goal: nil))
        }
    }

    enum Kind: String, CaseIterable {
        case inserts = "insert, one a transaction"
        case updates = "update one member, a transaction"
        case batches = "update one member, one transaction"
    }

    /// How long the saves take.
    func seconds(_ kind: Kind, hasClocks: Bool) throws -> Double {
        var options = DatabaseOptions()
        options.attributeClocks = hasClocks
        let database = try Database.inMemory(options: options)
        defer { database.close() }
        let documents = try (0..<count).map { number in
            Document(
                id: try DocumentID(validating: Sample.id(number)), body: try DocumentBody(utf8: Sample.body(number)))
        }
        if kind == .inserts {
            return try measuring.seconds {
                for document in documents { try database.save(document, onConflict: .fail) }
            }
        }
        var saved: [Document] = []
        try database.transaction {
            for document in documents { saved.append(try database.save(document, onConflict: .fail)) }
        }
        for index in saved.indices { saved[index]["count"] = .number(JSONNumber(index)) }
        return try measuring.seconds {
            if kind == .updates {
                for document in saved { try database.save(document, onConflict: .fail) }
            } else {
                try database.transaction { for document in saved { try database.save(document, onConflict: .fail) } }
            }
        }
    }
}
