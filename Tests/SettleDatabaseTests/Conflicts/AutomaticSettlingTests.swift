import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct AutomaticSettlingTests {
    // SEMANTICS 40, 86
    @Test(.timeLimit(.minutes(5)))
    func `existing and arriving conflicts are settled automatically`() async throws {
        let database = try Database.plain()
        try database.makeConflict("before")
        let settling = database.settleAutomatically(using: .threeWayMerge())
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs() == [])
        try database.makeConflict("after")
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs() == [])
        await settling.stop()
        try database.makeConflict("stopped")
        #expect(try database.conflictedDocumentIDs() == ["stopped"])
    }

    // SEMANTICS 45
    @Test(.timeLimit(.minutes(5)))
    func `changing the policy after the start changes nothing`() async throws {
        let database = try Database.plain()
        var policy = ConflictPolicy.custom("first") { _ in .merged(["by": "first"], attachments: []) }
        let settling = database.settleAutomatically(using: policy)
        policy = .custom("second") { _ in .merged(["by": "second"], attachments: []) }
        try database.makeConflict("a")
        try await settling.idle()
        #expect(settling.policy.name == "first")
        #expect(policy.name == "second")
        #expect(try database.document("a")?["by"] == "first")
        await settling.stop()
    }

    // SEMANTICS 28, 30, 31, 33, 41
    @Test(.timeLimit(.minutes(5)))
    func `each attempt is reported once, and a failed one is retried after a restart`() async throws {
        let database = try Database.plain(options: .quiet)
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let seen = Seen()
        let policy = ConflictPolicy.custom("fails over b once") { conflict in
            seen.note(conflict.documentID.string)
            if conflict.documentID == "b", seen.all.filter({ $0 == "b" }).count == 1 { throw Nonsense() }
            return .document(conflict.winner)
        }
        let settling = database.settleAutomatically(using: policy, atOnce: 1)
        try await settling.idle()
        await settling.stop()
        var events: [String] = []
        for await event in settling.events {
            switch event {
            case .settled(let settlement): events.append("settled \(settlement.documentID)")
            case .failed(let id, let error): events.append("failed \(id) \(error.code)")
            case .ended: events.append("ended")
            }
        }
        #expect(events == ["settled a", "failed b resolver_failed"])
        #expect(seen.all == ["a", "b"])
        #expect(try database.conflictedDocumentIDs() == ["b"])
        let again = database.settleAutomatically(using: policy)
        try await again.idle()
        #expect(try database.conflictedDocumentIDs() == [])
        await again.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a sweep retries failed conflicts`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("a")
        let seen = Seen()
        let settling = database.settleAutomatically(
            using: .custom("second time") { conflict in
                seen.note("asked")
                if seen.all.count == 1 { throw Nonsense() }
                return .document(conflict.winner)
            }, sweepEvery: .milliseconds(5))
        var outcomes: [String] = []
        for await event in settling.events {
            if case .failed = event { outcomes.append("failed") }
            if case .settled = event { outcomes.append("settled") }
            if outcomes.count == 2 { break }
        }
        #expect(outcomes == ["failed", "settled"])
        await settling.stop()
    }

    // SEMANTICS 42
    @Test(.timeLimit(.minutes(5)))
    func `a second policy for the same database is warned about`() async throws {
        let seen = Seen()
        let database = try Database.plain(options: options(noting: seen))
        let first = database.settleAutomatically(using: .threeWayMerge())
        let same = database.settleAutomatically(using: .threeWayMerge())
        #expect(seen.all == [])
        let other = database.settleAutomatically(using: .deletesWin)
        #expect(seen.all.count == 1)
        #expect(seen.all.first?.contains("deletesWin") == true)
        for settling in [first, same, other] { await settling.stop() }
        let after = database.settleAutomatically(using: .mostRevisions)
        #expect(seen.all.count == 1)
        await after.stop()
    }

    /// Two resolvers that were written in different places, or what else distinguishes two policies.
    private static let pairs: [(name: String, first: ConflictPolicy, second: ConflictPolicy, warns: Bool)] = {
        func made(_ name: String) -> ConflictPolicy { .custom(name) { .keep($0.winner.revision ?? $0.revisions[0]) } }
        return [
            (
                "couchbaseLite", .couchbaseLite { _, local, _ in local },
                .couchbaseLite { _, _, remote in remote }, true
            ),
            (
                "cloudant", .cloudant { $1.first },
                .cloudant { $1.last }, true
            ),
            (
                "custom, one name", .custom("mine") { .document($0.leaves[0]) },
                .custom("mine") { .document($0.leaves[1]) }, true
            ),
            (
                "asking, one name", .asking("person") { .document($0.leaves[0]) },
                .asking("person") { .document($0.leaves[1]) }, true
            ),
            (
                "deletes win, else another", .deletesWin(otherwise: .custom("mine") { .document($0.leaves[0]) }),
                .deletesWin(otherwise: .custom("mine") { .document($0.leaves[1]) }), true
            ),
            (
                "versions", .couchbaseLite(name: "mine", version: "1") { _, local, _ in local },
                .couchbaseLite(name: "mine", version: "2") { _, local, _ in local }, true
            ),
            (
                "one version", .cloudant(name: "mine", version: "1") { $1.first },
                .cloudant(name: "mine", version: "1") { $1.first }, false
            ),
            ("one place", made("mine"), made("mine"), false), ("two names", made("mine"), made("yours"), true),
            ("merges", .threeWayMerge(), .threeWayMerge(MergeRules()), false),
            ("rules", .threeWayMerge(onClash: .union), .threeWayMerge(), true),
            ("fields", .threeWayMerge(MergeRules(attributes: ["/n": .sum])), .threeWayMerge(), true),
            ("latest", .latestAttributeWins(onClash: .lines), .latestAttributeWins, true),
        ]
    }()

    // SEMANTICS 42
    @Test(.timeLimit(.minutes(5)), arguments: pairs.indices)
    func `policies of one form are distinguished by their version, rules or place in the code`(index: Int) async throws
    {
        let pair = Self.pairs[index]
        let seen = Seen()
        let database = try Database.plain(options: options(noting: seen))
        let first = database.settleAutomatically(using: pair.first)
        let same = database.settleAutomatically(using: pair.first)
        #expect(seen.all == [], "\(pair.name)")
        let second = database.settleAutomatically(using: pair.second)
        #expect(seen.all.count == (pair.warns ? 1 : 0), "\(pair.name): \(seen.all)")
        if let warning = seen.all.first {
            // "conflicts are settled by … and by … at the same time": the two are named differently.
            let names = warning.split(separator: " at the same time")[0].split(separator: "settled by ")[1]
            #expect(Set(names.split(separator: " and by ")).count == 2, "\(warning)")
        }
        for settling in [first, same, second] { await settling.stop() }
        let after = database.settleAutomatically(using: pair.second)
        #expect(seen.all.count == (pair.warns ? 1 : 0))
        await after.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `automatic settling ends when the database closes`() async throws {
        let database = try Database.plain()
        let settling = database.settleAutomatically(using: .threeWayMerge())
        try await settling.idle()
        database.close()
        for await _ in settling.events { Issue.record("nothing was to be settled") }
    }
}
