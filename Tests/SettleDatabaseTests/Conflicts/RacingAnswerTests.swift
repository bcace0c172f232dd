import Foundation
import Settle
import SettleTesting
import Testing

/// Which answers race, and which edits only look like them.
@Suite struct RacingAnswerTests {
    @Test func `an edit that was kept unchanged is not a racing answer`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["a": 0, "b": 0, "n": 0])
            let w = try peer("d", path("2-w", "a"), ["a": 1, "b": 0, "n": 0])
            let c = try peer("d", path("2-c", "a"), ["a": 0, "b": 1, "n": 0])
            // The user of b had copied c's change manually, and also changed n.
            let n = try peer(
                "d", path("3-00000000000000000000000000000001", "w", "a"), ["a": 1, "b": 1, "n": 1])
            try a.insertReplicated([base, w, c])
            try b.insertReplicated([base, w, c, n])
            try a.settle("d", using: .threeWayMerge())
            try b.settle("d", using: .threeWayMerge())
            try exchange([a, b])
            for database in [a, b] { try database.settle("d", using: .threeWayMerge()) }
            try exchange([a, b])
            for database in [a, b] { #expect(try database.document("d")?.json == ["a": 1, "b": 1, "n": 1]) }
        }
    }

    @Test func `siblings that were kept against a third edit are not racing answers`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["x": 0, "y": 0, "z": 0])
            let low = try peer("d", path("2-b", "a"), ["x": 1, "y": 0, "z": 0])
            try a.insertReplicated([base, low, peer("d", path("2-y", "a"), ["x": 1, "y": 1, "z": 0])])
            try b.insertReplicated([base, low, peer("d", path("2-z", "a"), ["x": 1, "y": 0, "z": 1])])
            for database in [a, b] { try database.settle("d", using: .threeWayMerge()) }
            try exchange([a, b])
            let asked = Seen()
            let policy = ConflictPolicy.custom("ask") { conflict in
                asked.note(conflict.leaves.compactMap { $0.revision?.description }.joined(separator: " "))
                return .leaveConflicted
            }
            try a.settle("d", using: policy)
            #expect(asked.all == ["2-z 2-y"])
            try b.settle("d", using: .threeWayMerge())
            #expect(try b.document("d")?.json == ["x": 1, "y": 1, "z": 1])
        }
    }

    @Test func `with a revision limit of 1 impure replicas stop writing`() throws {
        try withDatabases(2) { databases in
            for database in databases { try database.setRevisionLimit(1) }
            try databases[0].add("d")
            try databases[1].pull(from: databases[0])
            try databases[0].set("d", "v", 2)
            try databases[1].set("d", "v", 3)
            try exchange(databases)
            var news = 0
            for round in 0..<8 {
                for (number, database) in databases.enumerated() {
                    try database.settle(
                        "d",
                        using: .custom("impure") { _ in
                            .merged(
                                ["by": .number(JSONNumber(number)), "round": .number(JSONNumber(round))],
                                attachments: [])
                        })
                }
                news = try databases[0].pull(from: databases[1]) + databases[1].pull(from: databases[0])
            }
            #expect(news == 0)
        }
    }

    @Test func `a settlement that leaves the conflict has no survivor`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([
                peer("d", path("3-m", "c", "a"), ["v": 1]), peer("d", path("3-n", "c", "a"), ["v": 2]),
                peer("d", path("2-z", "a"), ["v": 3]),
                peer("d", path("3-x", "b", "a"), ["$closed": "3-m"], isDeleted: true),
                peer("d", path("3-y", "b", "a"), ["$closed": "3-n"], isDeleted: true),
            ])
            let settlement = try database.settle("d", using: .keepAll)
            #expect(settlement.outcome == .left)
            #expect(settlement.survivor == nil)
            #expect(settlement.written == [])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `settling racing answers inside a snapshot ends, with an error at most`() async throws {
        let done = Seen()
        let thread = Thread {
            do {
                try withTemporaryDatabase(.file) { database in
                    let base = try peer("d", path("2-c", "a"), ["v": 0])
                    try database.insertReplicated([
                        base, peer("d", path("3-m", "c", "a"), ["v": 1]), peer("d", path("3-n", "c", "a"), ["v": 2]),
                        peer("d", path("3-x", "b", "a"), ["$closed": "3-m"], isDeleted: true),
                        peer("d", path("3-y", "b", "a"), ["$closed": "3-n"], isDeleted: true),
                    ])
                    _ = try database.snapshot { try database.settle("d", using: .mostRevisions) }
                }
                done.note("done")
            } catch { done.note("\(error)") }
        }
        thread.start()
        await eventually("settling ends") { !done.all.isEmpty }
        #expect(done.all.count == 1)
        #expect(done.all[0].hasPrefix("conflict: ") && done.all[0].contains("settle outside of a snapshot"))
    }
}
