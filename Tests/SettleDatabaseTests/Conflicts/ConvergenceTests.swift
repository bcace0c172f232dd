import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Replicas that settle the same conflict converge and stop writing.
@Suite struct ConvergenceTests {
    /// Both sides of one conflict, edited independently and exchanged.
    private func withConflictOnBoth(_ body: (Database, Database) throws -> Void) throws {
        try withTwoDatabases { first, second in
            try first.add("a", ["name": "Milk", "count": 1, "note": "?"])
            try second.pull(from: first)
            try first.set("a", "count", 3)
            try second.set("a", "name", "Oat milk")
            try first.pull(from: second)
            try second.pull(from: first)
            try body(first, second)
        }
    }

    // SEMANTICS 4, 82
    @Test(arguments: [
        ConflictPolicy.mostRevisions, .deletesWin, .threeWayMerge(),
        .custom("all") { conflict in
            let values = conflict.leaves.map { $0.json }
            return .merged(try DocumentBody(["all": .array(values)]), attachments: [])
        },
    ])
    func `two replicas that settle at once write the same revisions, and write no more`(policy: ConflictPolicy) throws {
        try withConflictOnBoth { first, second in
            let one = try first.settle("a", using: policy)
            let two = try second.settle("a", using: policy)
            #expect(one.written == two.written)
            #expect(try first.document("a") == second.document("a"))
            #expect(try first.leafNames("a") == second.leafNames("a"))
            #expect(try first.pull(from: second) == 0)
            #expect(try second.pull(from: first) == 0)
            #expect(try first.settleAll(using: policy).total == 0)
        }
    }

    // SEMANTICS 81
    @Test func `a resolution made on one replica arrives as ordinary revisions`() throws {
        try withConflictOnBoth { first, second in
            try first.settle("a", using: .threeWayMerge())
            #expect(try second.pull(from: first) == 2)
            #expect(try second.conflictedDocumentIDs() == [])
            #expect(try second.document("a")?.json == ["name": "Oat milk", "count": 3, "note": "?"])
            #expect(try second.leafNames("a") == first.leafNames("a"))
            try withTemporaryDatabase(.plain) { third in
                try third.pull(from: second)
                #expect(try third.conflictedDocumentIDs() == [])
                #expect(try third.document("a")?.json == first.document("a")?.json)
            }
        }
    }

    // SEMANTICS 3, 18
    @Test func `a conflict that local wins settled reaches the server by the next push`() throws {
        try withConflictOnBoth { first, server in
            try first.settle("a", using: .localWins)
            #expect(try server.pull(from: first) > 0)
            #expect(try server.document("a")?.json == ["name": "Milk", "count": 3, "note": "?"])
            #expect(try server.conflictedDocumentIDs() == [])
        }
    }

    // SEMANTICS 19
    @Test func `where the remote winner stays only the closing is to be pushed`() throws {
        try withTwoDatabases { first, server in
            try first.add("a")
            try server.pull(from: first)
            try first.set("a", "v", "mine")
            for value in [2, 3] { try server.set("a", "v", .number(JSONNumber(value))) }
            try first.pull(from: server)
            let settlement = try first.settle("a", using: .remoteWins)
            #expect(try settlement.survivor == server.document("a")?.revision)
            #expect(settlement.written.count == 1)
            let before = try server.document("a")
            #expect(try server.pull(from: first) == 1)
            #expect(try server.document("a") == before)
        }
    }

    // SEMANTICS 82
    @Test func `local wins on both sides ends with one of the two contents, on both`() throws {
        for policies in [
            (ConflictPolicy.localWins, ConflictPolicy.localWins), (.remoteWins, .remoteWins),
            (.localWins, .remoteWins), (.mostRevisions, .localWins), (.threeWayMerge(), .remoteWins),
        ] {
            try withConflictOnBoth { first, second in
                try first.settle("a", using: policies.0)
                try second.settle("a", using: policies.1)
                for _ in 0..<2 {
                    try first.pull(from: second)
                    try second.pull(from: first)
                    try first.settleAll(using: policies.0)
                    try second.settleAll(using: policies.1)
                }
                #expect(try first.document("a") != nil)
                #expect(try first.document("a")?.json == second.document("a")?.json)
                #expect(try first.leafNames("a") == second.leafNames("a"))
                #expect(try first.conflictedDocumentIDs() == [])
                #expect(try first.pull(from: second) == 0)
            }
        }
    }

    // SEMANTICS 82, 83
    @Test func `racing answers of impure resolvers are reduced to one without asking a resolver`() throws {
        try withConflictOnBoth { first, second in
            let seen = Seen()
            func policy(_ name: String) -> ConflictPolicy {
                .custom(name) { _ in
                    seen.note(name)
                    return .merged(["by": .string(name)], attachments: [])
                }
            }
            try first.settle("a", using: policy("first"))
            try second.settle("a", using: policy("second"))
            try first.pull(from: second)
            try second.pull(from: first)
            #expect(try first.conflictedDocumentIDs() == ["a"])
            for (database, name) in [(first, "first"), (second, "second")] {
                let settlement = try database.settle("a", using: policy(name))
                #expect(settlement.outcome == .settled)
                #expect(settlement.racingAnswers.count == 2)
                #expect(settlement.attempts == 0)
                #expect(settlement.survivor == settlement.racingAnswers[0])
            }
            #expect(seen.all == ["first", "second"])
            #expect(try first.leafNames("a") == second.leafNames("a"))
            #expect(try first.pull(from: second) == 0)
            #expect(try second.pull(from: first) == 0)
            #expect(try first.problems() == [])
        }
    }

    /// Three edits of a counter; one replica has settled two of them, another all three.
    // SEMANTICS 82, 83
    @Test func `an answer that has seen all edits beats one that has seen some, and nothing counts twice`() throws {
        let count = ConflictPolicy.threeWayMerge(MergeRules(attributes: ["/n": .sum]))
        for order in 0..<6 {
            try withTwoDatabases { first, second in
                try withTemporaryDatabase(.plain) { third in
                    let all = [first, second, third]
                    try first.add("a", ["n": 0])
                    for other in [second, third] { try other.pull(from: first) }
                    // The order of ids varies with the marks, so that each of the three wins once.
                    for (index, database) in all.enumerated() {
                        try database.set("a", "n", [1, 10, 100][index])
                        try database.set("a", "mark\(index)", .number(JSONNumber((index + order) * 7 % 6)))
                    }
                    try first.pull(from: second)
                    try first.settle("a", using: count)
                    try third.pull(from: second)
                    // The third gets the first's edit as it was before settling.
                    let tree = try #require(try first.tree(of: "a"))
                    for revision in tree.revisions where revision.generation == 3 {
                        guard let history = tree.history(of: revision),
                            let document = try first.document("a", revision: revision), !document.isDeleted
                        else { continue }
                        try third.insertReplicated([peer("a", history, document.body())])
                    }
                    try third.settle("a", using: count)
                    #expect(try third.document("a")?["n"] == 111)
                    for _ in 0..<3 {
                        for database in all {
                            for other in all where other !== database { try database.pull(from: other) }
                            try database.settleAll(using: count)
                        }
                    }
                    for database in all {
                        #expect(try database.document("a")?["n"] == 111)
                        #expect(try database.conflictedDocumentIDs() == [])
                        #expect(try database.leafNames("a") == first.leafNames("a"))
                    }
                }
            }
        }
    }

    @Test func `an answer that was edited afterwards is a new edit, and the resolver is asked`() throws {
        try withConflictOnBoth { first, second in
            try first.settle("a", using: .custom("one") { _ in .merged(["by": 1], attachments: []) })
            try second.settle("a", using: .custom("two") { _ in .merged(["by": 2], attachments: []) })
            try second.set("a", "edited", true)
            try first.pull(from: second)
            let seen = Seen()
            try first.settle(
                "a",
                using: .custom("asked") { conflict in
                    seen.note("asked")
                    return .document(conflict.winner)
                })
            #expect(seen.all == ["asked"])
        }
    }

    // SEMANTICS 87
    @Test func `a conflict that was settled manually on a server is gone after the pull`() throws {
        try withConflictOnBoth { first, server in
            let leaves = try server.leaves(of: "a")
            var winner = leaves[0]
            winner["name"] = "settled by hand"
            try server.saveAll([winner], onConflict: .fail)
            try server.delete(leaves[1], onConflict: .fail)
            try first.pull(from: server)
            let seen = Seen()
            let settlement = try first.settle(
                "a",
                using: .custom("any", deletions: true) { conflict in
                    seen.note("asked")
                    return .document(conflict.winner)
                })
            #expect(settlement.outcome == .nothing)
            #expect(seen.all == [])
            #expect(try first.document("a")?["name"] == "settled by hand")
        }
    }

    @Test func `a resolver's name and version are replicated, and a mixed fleet is detected`() throws {
        let seen = Seen()
        try withTemporaryDatabase(.plain, options: options(noting: seen)) { second in
            try withTemporaryDatabase(.plain) { first in
                try first.makeConflict("a")
                try first.settle("a", using: .custom("merge", version: "1") { .document($0.winner) })
                #expect(try first.leafBodies("a")[1].contains(#""$resolver":"merge@1""#))
                try first.set("a", "v", 5)
                try second.pull(from: first)
                try second.set("a", "v", 6)
                try first.set("a", "v", 7)
                try second.pull(from: first)
                let settlement = try second.settle("a", using: .custom("merge", version: "2") { .document($0.winner) })
                #expect(settlement.otherResolvers == [ResolverIdentity(name: "merge", version: "1")])
                #expect(seen.all.count == 1)
                #expect(seen.all[0].contains("merge@1") && seen.all[0].contains("merge@2"))
            }
        }
    }
}
