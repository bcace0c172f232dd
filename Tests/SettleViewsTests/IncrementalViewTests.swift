import PostgresTesting
import Settle
import SettleTesting
import Testing

/// A view that follows changes has the same rows and reductions as one that is built from scratch.
struct IncrementalViewTests {
    /// A document's rows: many with equal keys, of several kinds, some of them long.
    private static let map: MapIndex<JSONValue, Int>.Map = { document, emit in
        for (index, key) in (document["keys"]?.array ?? []).enumerated() {
            emit(key, index + (document["n"]?.int ?? 0))
        }
        if !document.conflicts.isEmpty {
            emit(.array(["conflict", .string(document.id.string)]), document.conflicts.count)
        }
    }

    private static func key(_ generator: inout SeededRandom) -> JSONValue {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: .number(JSONNumber(Int.random(in: 0..<6, using: &generator)))
        case 1: .string(String(repeating: "k", count: Int.random(in: 0..<300, using: &generator)))
        case 2:
            [
                .string(["x", "y", "é", "e\u{301}"].randomElement(using: &generator) ?? ""),
                .number(JSONNumber(Int.random(in: 0..<40, using: &generator))),
            ]
        case 3: [.string("x")]
        default: .null
        }
    }

    @Test(arguments: 1...12) func `an incremental update gives the same rows as a rebuild`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let database = try Database.plain()
        let followed = MapIndex<JSONValue, Int>("followed", version: 1, map: Self.map)
        for step in 0..<40 {
            try database.transaction {
                for _ in 0..<Int.random(in: 1...60, using: &generator) { try Self.change(database, &generator) }
            }
            _ = try database.count(of: followed)
            guard step % 8 == 7 else { continue }
            let fresh = MapIndex<JSONValue, Int>("fresh", version: step, map: Self.map)
            try Self.compare(database, followed, fresh, &generator)
        }
    }

    private static func change(_ database: Database, _ generator: inout SeededRandom) throws {
        let id = DocumentID(stringLiteral: "d\(Int.random(in: 0..<400, using: &generator))")
        let keys = (0..<Int.random(in: 0...4, using: &generator)).map { _ in key(&generator) }
        let body: DocumentBody = [
            "keys": .array(keys), "n": .number(JSONNumber(Int.random(in: 0..<1000, using: &generator))),
        ]
        try database.change(id, to: body, &generator)
    }

    private static func compare(
        _ database: Database, _ followed: MapIndex<JSONValue, Int>, _ fresh: MapIndex<JSONValue, Int>,
        _ generator: inout SeededRandom
    ) throws {
        let rows = try database.rows(of: followed)
        #expect(rows == (try database.rows(of: fresh)))
        for reversed in [false, true] {
            for level in 0...2 {
                let sum = (followed.reduced(.sum), fresh.reduced(.sum))
                var range = MapIndexRange<JSONValue>.all
                if Bool.random(using: &generator) { range = .from(key(&generator)) }
                if reversed { range = range.reversed() }
                let some = try database.groups(of: sum.0, byFirst: level, in: range)
                #expect(some == (try database.groups(of: sum.1, byFirst: level, in: range)))
                let count = try database.reduce(followed.reduced(.count), in: range) ?? 0
                #expect(count == (try database.rows(of: followed, in: range).count))
                #expect(count == (try database.count(of: followed, in: range)))
                #expect(
                    some.reduce(0) { $0 + $1.value }
                        == (try database.rows(of: fresh, in: range)).reduce(0) { $0 + $1.value })
            }
        }
        let exact = try database.groups(of: followed.reduced(.count))
        #expect(exact.reduce(0) { $0 + $1.value } == rows.count)
    }
}
