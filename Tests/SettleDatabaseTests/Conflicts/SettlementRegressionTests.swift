import Foundation
import Settle
import SettleTesting
import Testing

/// Ways in which settling once went wrong, or might have.
@Suite struct SettlementRegressionTests {
    private var quiet: DatabaseOptions {
        var options = DatabaseOptions()
        options.warn = { _ in }
        return options
    }

    private func withDatabases(_ count: Int, _ body: ([Database]) throws -> Void) throws {
        let databases = try (0..<count).map { _ in try Database.inMemory(options: quiet) }
        defer { for database in databases { database.close() } }
        try body(databases)
    }

    private func exchange(_ databases: [Database]) throws {
        for _ in 0..<2 {
            for first in databases { for second in databases where first !== second { try first.pull(from: second) } }
        }
    }

    // MARK: racing answers

    @Test func `an edit that was kept unchanged is no racing answer`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["a": 0, "b": 0, "n": 0])
            let w = try peer("d", path("2-w", "a"), ["a": 1, "b": 0, "n": 0])
            let c = try peer("d", path("2-c", "a"), ["a": 0, "b": 1, "n": 0])
            // The user of b had taken over c's change by hand, and changed n besides.
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

    @Test func `siblings that were kept against a third edit are no racing answers`() throws {
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

    @Test func `with a revision limit of 1 impure replicas go quiet`() throws {
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

    // MARK: deletions

    @Test func `a document revived over two deletions is not deleted by who saw only one of them`() throws {
        try withDatabases(3) { databases in
            let (a, b, c) = (databases[0], databases[1], databases[2])
            try a.add("d", ["v": 1])
            try b.pull(from: a)
            try c.pull(from: a)
            try a.delete("d")
            try c.pull(from: a)  // c knows a's deletion
            try b.set("d", "v", 2)
            try b.delete("d")
            try a.pull(from: b)  // two tombstones
            #expect(try a.document("d") == nil)
            try a.add("d", ["v": "revived"])
            #expect(try a.conflict(of: "d") == nil)
            try c.pull(from: a)
            #expect(try c.conflict(of: "d") == nil)
            try c.settle("d", using: .deletesWin)
            #expect(try c.document("d")?["v"] == "revived")
            try a.pull(from: c)
            #expect(try a.document("d")?["v"] == "revived")
        }
    }

    @Test func `a deletion and an edit are not both closed for each other`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            try a.add("d")
            try b.pull(from: a)
            try a.delete("d")
            try b.set("d", "v", 2)
            try exchange([a, b])
            try a.settle("d", using: .localWins)  // the deletion
            try b.settle("d", using: .localWins)  // the edit
            try exchange([a, b])
            // Someone's answer should stand: a live leaf, or a deletion that is open and known as one.
            let tree = try #require(try a.tree(of: "d"))
            #expect(tree.leaves.contains { !$0.marks.contains(.closing) })
        }
    }

    // MARK: merging

    @Test func `a counter's change is not counted twice when the closed branch goes on`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["n": 5])
            let w = try peer("d", path("2-w", "a"), ["n": 8])
            let x = try peer("d", path("2-b", "a"), ["n": 6])
            try a.insertReplicated([base, w, x])
            try b.insertReplicated([base, x])
            let policy = ConflictPolicy.threeWayMerge(MergeRules(members: ["/n": .sum]))
            try a.settle("d", using: policy)
            #expect(try a.document("d")?["n"] == 9)
            try b.set("d", "n", 7)  // one more, on the branch that a closed
            try exchange([a, b])
            for database in [a, b] { try database.settle("d", using: policy) }
            #expect(try a.document("d")?.json == b.document("d")?.json)
            #expect(try a.document("d")?["n"] == 10)
        }
    }

    @Test func `a removal made after a merge stays when the closed branch goes on`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["tags": []])
            let w = try peer("d", path("2-w", "a"), ["tags": ["w"]])
            let x = try peer("d", path("2-b", "a"), ["tags": ["x"]])
            try a.insertReplicated([base, w, x])
            try b.insertReplicated([base, x])
            let policy = ConflictPolicy.threeWayMerge(MergeRules(members: ["/tags": .union]))
            try a.settle("d", using: policy)
            #expect(try a.document("d")?["tags"] == ["w", "x"])
            try a.set("d", "tags", ["w"])  // x is taken away
            try b.set("d", "note", "hello")
            try exchange([a, b])
            for database in [a, b] { try database.settle("d", using: policy) }
            #expect(try a.document("d")?["tags"] == ["w"])
        }
    }

    @Test func `a rule's answer about attachments that names none does not drop them`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([
                peer("d", path("1-a")),
                peer("d", path("2-b", "a"), attachments: [database.makeAttachment("photo", content: [1])]),
                peer("d", path("2-c", "a"), attachments: [database.makeAttachment("photo", content: [2])]),
            ])
            let join = MergeRule.custom("join") { clash in
                .string(clash.versions.compactMap { $0?.string }.joined(separator: "\n"))
            }
            let settlement = try database.settle("d", using: .threeWayMerge(onClash: join))
            if settlement.outcome == .settled {
                #expect(try database.document("d")?.attachments.map(\.name) == ["photo"])
            }
        }
    }

    @Test func `replicas that spell a revision differently write the same`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            for (database, text) in [(a, #"{"v":1.50,"x":0,"s":"\u00e9"}"#), (b, #"{"v":1.5,"x":0,"s":"é"}"#)] {
                try database.insertReplicated([
                    peer("d", path("1-a"), ["x": 0]), peer("d", path("2-w", "a"), DocumentBody(parsing: text)),
                    peer("d", path("2-b", "a"), ["x": 0, "y": 1]),
                ])
            }
            let policy = ConflictPolicy.custom("rebuilt") { conflict in
                .merged(["v": 1.5, "x": 0, "s": "é"], attachments: [])
            }
            let one = try a.settle("d", using: policy)
            let two = try b.settle("d", using: policy)
            #expect(one.written == two.written)
        }
    }

    // MARK: local and remote

    @Test func `a fast-forward of a settled document is no remote side`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            // Settled long ago: a closed branch is left.
            try database.insertReplicated([
                peer("d", path("2-b", "a"), ["v": 1]),
                peer("d", path("3-x", "c", "a"), ["$closed": "2-b"], isDeleted: true),
            ])
            // What the user has on screen came as a plain update ...
            try database.insertReplicated([peer("d", path("3-s", "b", "a"), ["v": "screen"])])
            // ... and then another edit arrives.
            try database.insertReplicated([peer("d", path("3-n", "b", "a"), ["v": "new"])])
            let conflict = try #require(try database.conflict(of: "d"))
            #expect(conflict.local?["v"] == "screen")
            #expect(conflict.remote?["v"] == "new")
            let seen = Seen()
            try database.settle(
                "d",
                using: .couchbaseLite { _, local, remote in
                    seen.note("\(local?["v"]?.string ?? "-") \(remote?["v"]?.string ?? "-")")
                    return remote
                })
            #expect(seen.all == ["screen new"])
        }
    }

    // MARK: failing

    @Test func `not found thrown by a resolver is a failure of that conflict`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.makeConflict("d")
            let report = try database.settleAll(
                using: .custom("deletes a helper") { conflict in
                    try database.delete("helper")
                    return .document(conflict.winner)
                })
            #expect(report.failed == 1)
            #expect(report.gone == 0)
            #expect(report.failures.map(\.error.code) == [.resolverFailed])
        }
    }

    @Test func `a resolver that meets another, closed database does not stop a sweep`() throws {
        try withDatabases(2) { databases in
            let (database, other) = (databases[0], databases[1])
            for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
            other.close()
            let policy = ConflictPolicy.custom("looks elsewhere over a") { conflict in
                if conflict.documentID == "a" { _ = try other.document("x") }
                return .document(conflict.winner)
            }
            #expect(code { try database.settleAll(using: policy) } == nil)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    @Test func `a resolver that throws CancellationError does not stop a sweep`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
            let policy = ConflictPolicy.custom("cancelled inside over a") { conflict in
                if conflict.documentID == "a" { throw CancellationError() }
                return .document(conflict.winner)
            }
            #expect(code { try database.settleAll(using: policy) } == nil)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `automatic settling survives a resolver's CancellationError, or says that it ended`() async throws {
        let seen = Seen()
        let database = try Database.inMemory(options: options(noting: seen))
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let settling = database.settleAutomatically(
            using: .asking("cancelled inside over a") { conflict in
                if conflict.documentID == "a" { throw CancellationError() }
                return .document(conflict.winner)
            })
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs() == ["a"])
        await settling.stop()
        var events = 0
        for await _ in settling.events { events += 1 }
        #expect(events == 2)
        #expect(!seen.all.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a deletion learnt of a known tombstone is settled automatically before idle`() async throws {
        let database = try Database.inMemory(options: quiet)
        var tombstone = try peer("d", path("3-t", "x", "a"), isDeleted: true)
        try database.insertReplicated([peer("d", path("2-b", "a"), ["v": 1]), tombstone])
        let settling = database.settleAutomatically(using: .deletesWin)
        try await settling.idle()
        tombstone.isDeletionAtSource = true
        try database.insertReplicated([tombstone])
        #expect(try database.conflictedDocumentIDs(.deletion) == ["d"])
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs(.deletion) == [])
        await settling.stop()
    }

    @Test func `saveAll writes nothing of a document it reports as refused`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([
                peer("d", path("2-t", "a"), isDeleted: true),
                peer("d", path("3-x", "y", "a"), ["$closed": "2-t"], isDeleted: true),
            ])
            database.addValidation("tombstones keep their type") { context in
                if context.newRevision.isDeleted, context.newRevision["type"] == nil { throw ValidationError() }
            }
            let before = try database.lastSequence()
            let results = try database.saveAll([Document(id: "d", body: ["type": "t"])], onConflict: .fail)
            guard case .failure = results[0] else { return }
            #expect(try database.document("d") == nil)
            #expect(try database.lastSequence() == before)
        }
    }

    // MARK: purity

    @Test func `purity is checked inside of deletes-win`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.makeConflict("d")
            let asked = Seen()
            var policy = ConflictPolicy.custom("counts") { _ in
                asked.note("asked")
                return .merged(["n": .number(JSONNumber(asked.all.count % 2))], attachments: [])
            }
            policy.checksPurity = true
            let settlement = try database.settle("d", using: .deletesWin(otherwise: policy))
            #expect(settlement.warnings.contains { $0.contains("answered differently") })
            #expect(asked.all.count == 2)
        }
    }

    @Test func `purity is checked of policies that wait`() async throws {
        let database = try Database.inMemory(options: quiet)
        try database.makeConflict("d")
        let asked = Seen()
        var policy = ConflictPolicy.asking("counts") { _ in
            asked.note("asked")
            return .merged(["n": .number(JSONNumber(asked.all.count))], attachments: [])
        }
        policy.checksPurity = true
        let settlement = try await database.settle("d", asking: policy)
        #expect(settlement.warnings.contains { $0.contains("answered differently") })
    }

    // MARK: ends

    @Test(.timeLimit(.minutes(5)))
    func `idle ends when its task is cancelled`() async throws {
        let database = try Database.inMemory(options: quiet)
        try database.makeConflict("d")
        let never = Gate(count: 2)
        let settling = database.settleAutomatically(
            using: .asking("a person who is out") { _ in
                await never.pass()
                return .leaveConflicted
            })
        let waiting = Task { try await settling.idle() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await settling.stop()
        await never.open()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a second stop waits, too`() async throws {
        let database = try Database.inMemory(options: quiet)
        try database.makeConflict("d")
        let seen = Seen()
        let settling = database.settleAutomatically(
            using: .custom("slow") { conflict in
                seen.note("begun")
                Thread.sleep(forTimeInterval: 0.5)
                seen.note("done")
                return .document(conflict.winner)
            })
        while seen.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        let first = Task { await settling.stop() }
        await settling.stop()
        #expect(seen.all == ["begun", "done"])
        await first.value
    }

    @Test(.timeLimit(.minutes(5)))
    func `a person who is asked about one document does not hold up the others`() async throws {
        let database = try Database.inMemory(options: quiet)
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let never = Gate(count: 2)
        let settling = database.settleAutomatically(
            using: .asking("thinks long over a") { conflict in
                if conflict.documentID == "a" { await never.pass() }
                return .document(conflict.winner)
            })
        for await event in settling.events {
            guard case .settled(let settlement) = event else { continue }
            #expect(settlement.documentID == "b")
            break
        }
        #expect(try database.conflictedDocumentIDs() == ["a"])
        await settling.stop()
        await never.open()
    }

    // MARK: bounds

    /// A comb: each leaf hangs on the next revision of a long trunk.
    private func comb(_ database: Database, teeth: Int) throws {
        let revisions = try (1...teeth).map { number in
            let signatures = try (1...number).reversed().map { index in
                try RevisionID(validating: "1-\(index == number ? "leaf" : "trunk")\(index)").signature
            }
            return peer("d", try RevisionHistory(start: UInt64(number), signatures: signatures), ["v": 1])
        }
        try database.insertReplicated(revisions)
    }

    @Test(arguments: [200, 1000])
    func `a conflict of many entangled leaves can be read`(teeth: Int) throws {
        try withDatabases(1) { databases in
            try comb(databases[0], teeth: teeth)
            #expect(try databases[0].conflict(of: "d")?.leaves.count == teeth)
        }
    }

    @Test(arguments: [50, 200])
    func `a conflict of many entangled leaves can be merged`(teeth: Int) throws {
        try withDatabases(1) { databases in
            try comb(databases[0], teeth: teeth)
            // Contents for the trunk, so that there are bases.
            for number in 1..<teeth {
                let signatures = try (1...number).reversed().map {
                    try RevisionID(validating: "1-trunk\($0)").signature
                }
                try databases[0].insertReplicated([
                    peer("d", try RevisionHistory(start: UInt64(number), signatures: signatures), ["v": 0])
                ])
            }
            #expect(try databases[0].settle("d", using: .threeWayMerge()).outcome == .settled)
        }
    }

    // MARK: more

    @Test func `a three-way merge equal to the winner writes the same however the winner is spelled`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            for (database, text) in [(a, #"{"s":"\u00e9","x":1}"#), (b, #"{"s":"é","x":1}"#)] {
                try database.insertReplicated([
                    peer("d", path("1-a"), ["s": "", "x": 0]), peer("d", path("2-w", "a"), DocumentBody(parsing: text)),
                    peer("d", path("2-b", "a"), ["s": "", "x": 1]),
                ])
            }
            let one = try a.settle("d", using: .threeWayMerge())
            let two = try b.settle("d", using: .threeWayMerge())
            #expect(one.written == two.written)
        }
    }

    @Test func `a user's deletion that keeps a member named closed is a deletion`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            try a.add("d", ["$closed": "2-b", "v": 1])
            try b.pull(from: a)
            let document = try #require(try a.document("d"))
            try a.delete(document, keeping: ["$closed"], onConflict: .fail)
            try b.set("d", "v", 2)
            try exchange([a, b])
            #expect(try a.conflict(of: "d")?.kind == .deletion)
        }
    }

    @Test func `a settlement that ends as left has no survivor`() throws {
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

    @Test(arguments: 0..<4, 0..<10)
    func `replicas that edit, delete, revive, exchange and settle at random end equal and quiet`(
        policy number: Int, seed: Int
    ) throws {
        let policy: ConflictPolicy = [
            .deletesWin, .mostRevisions, .deletesWin(otherwise: .threeWayMerge(onClash: .winner)), .localWins,
        ][number]
        try withDatabases(3) { databases in
            var state = UInt64(seed &* 4 &+ number &+ 1) &* 0x9E37_79B9_7F4A_7C15
            func random(_ bound: Int) -> Int {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return Int(state % UInt64(bound))
            }
            try databases[0].add("d", ["a": 0, "b": 0, "c": 0])
            for step in 0..<25 {
                let database = databases[random(3)]
                switch random(10) {
                case 0...3:
                    let name = ["a", "b", "c"][random(3)]
                    try database.set("d", name, .number(JSONNumber(step)))
                case 4: if try database.document("d") != nil { try database.delete("d") }
                case 5...7:
                    let other = databases[random(3)]
                    if other !== database { try database.pull(from: other) }
                default: if try database.tree(of: "d") != nil { try database.settle("d", using: policy) }
                }
            }
            var rounds = 0
            var isQuiet = false
            while !isQuiet, rounds < 12 {
                rounds += 1
                isQuiet = true
                for first in databases {
                    for second in databases where first !== second {
                        if try first.pull(from: second) > 0 { isQuiet = false }
                    }
                }
                for database in databases {
                    if try !database.settle("d", using: policy).written.isEmpty { isQuiet = false }
                }
            }
            #expect(isQuiet)
            let names = try databases.map { try Set($0.leafNames("d")) }
            #expect(names[0] == names[1] && names[1] == names[2])
            for database in databases {
                #expect(try database.problems() == [])
                #expect(try database.conflictedDocumentIDs() == [])
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `racing answers inside of a snapshot end, if only with an error`() async throws {
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
        while done.all.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
        #expect(!done.all.isEmpty)
    }

    @Test func `a deep document is merged within a time limit`() throws {
        func deep(_ value: Int) throws -> DocumentBody {
            try DocumentBody(
                parsing: String(repeating: #"{"a":"#, count: 1000) + "\(value)" + String(repeating: "}", count: 1000))
        }
        try withTemporaryDatabase(.memory) { database in
            try database.insertReplicated([
                peer("d", path("1-a"), deep(0)), peer("d", path("2-b", "a"), deep(1)),
                peer("d", path("2-c", "a"), deep(2)),
            ])
            var policy = ConflictPolicy.threeWayMerge()
            policy.timeLimit = .seconds(30)
            try database.settle("d", using: policy)
            #expect(try database.conflictedDocumentIDs() == [])
        }
    }
}
