import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

/// What a resolver is given, what it may return, and the result.
@Suite struct ResolverContractTests {
    // SEMANTICS 14
    @Test func `a side that is deleted is nil`() throws {
        try withDeletionAgainstEdit { first, second in
            let seen = Seen()
            let policy = ConflictPolicy.couchbaseLite { id, local, remote in
                seen.note("\(id) \(local?.json.description ?? "nil") \(remote?.json.description ?? "nil")")
                return local ?? remote
            }
            try first.settle("a", using: policy)
            try second.settle("a", using: policy)
            #expect(seen.all == [#"a nil {"v":2}"#, #"a {"v":2} nil"#])
            #expect(try first.document("a")?["v"] == 2)
            #expect(try first.leafBodies("a") == second.leafBodies("a"))
        }
    }

    // SEMANTICS 15
    @Test func `the local document, the remote one or a merge can be returned`() throws {
        let merge = ConflictPolicy.couchbaseLite { _, local, remote in
            guard var merged = local, let remote else { return local ?? remote }
            merged["there"] = remote["v"]
            return merged
        }
        for (policy, expected) in [
            (ConflictPolicy.couchbaseLite { _, local, _ in local }, #"{"v":"here"}"#),
            (.couchbaseLite { _, _, remote in remote }, #"{"v":"there"}"#),
            (merge, #"{"v":"here","there":"there"}"#),
        ] {
            try withTemporaryDatabase(.plain) { database in
                try database.makeConflict("a")
                try database.settle("a", using: policy)
                #expect(try database.document("a")?.json.description == expected)
                #expect(try database.conflictedDocumentIDs() == [])
                #expect(try database.problems() == [])
            }
        }
    }

    // SEMANTICS 16
    @Test func `nil in Couchbase Lite's shape deletes`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let settlement = try database.settle("a", using: .couchbaseLite { _, _, _ in nil })
            #expect(settlement.outcome == .settled)
            #expect(try database.document("a") == nil)
            #expect(try database.conflictedDocumentIDs() == [])
            #expect(try database.tree(of: "a")?.leaves.filter { $0.marks.contains(.deletion) }.count == 1)
        }
    }

    // SEMANTICS 17
    @Test func `nil where one side was deleted keeps that tombstone`() throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            let tombstone = try first.delete("a")?.revision
            try second.set("a", "v", 2)
            try first.pull(from: second)
            let settlement = try first.settle("a", using: .couchbaseLite { _, _, _ in nil })
            #expect(settlement.survivor == tombstone)
            #expect(try first.document("a") == nil)
        }
    }

    // SEMANTICS 20, K8
    @Test func `a merge becomes a child of the winner, and the other branch is closed`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let winner = try #require(try database.document("a")?.revision)
            let settlement = try database.settle(
                "a", using: .custom("both") { _ in .merged(["v": "both"], attachments: []) })
            let survivor = try #require(settlement.survivor)
            #expect(try database.tree(of: "a")?.parent(of: survivor) == winner)
            #expect(settlement.superseded.count == 2)
            #expect(try database.leafBodies("a") == [#"{"v":"both"}"#, #"!{"$closed":"\#(survivor)"}"#])
        }
    }

    // SEMANTICS 21
    @Test func `a wrong id is warned about, and the content is saved under the document's id`() throws {
        let seen = Seen()
        try withTemporaryDatabase(.plain, options: options(noting: seen)) { database in
            try database.makeConflict("a")
            let settlement = try database.settle(
                "a", using: .custom("wrong") { _ in .document(Document(id: "b", body: ["v": "merged"])) })
            #expect(settlement.outcome == .settled)
            #expect(try database.document("a")?["v"] == "merged")
            #expect(try database.document("b") == nil)
            #expect(settlement.warnings.count == 1)
            #expect(seen.all == settlement.warnings)
            #expect(seen.all.first?.contains("\"a\"") == true && seen.all.first?.contains("\"b\"") == true)
        }
    }

    // SEMANTICS 22, 23
    @Test func `a document of another database is refused, a new one is not`() throws {
        let seen = Seen()
        try withTemporaryDatabase(.plain, options: options(noting: seen)) { database in
            try withTemporaryDatabase(.plain) { other in
                try database.makeConflict("a")
                let before = try database.leafNames("a")
                let foreign = try other.add("a", ["v": "foreign"])
                #expect(
                    code { try database.settle("a", using: .custom("x") { _ in .document(foreign) }) }
                        == .foreignDocument)
                #expect(try database.leafNames("a") == before)
                #expect(seen.all.count == 1)
                let fresh = Document(id: "a", body: ["v": "fresh"])
                try database.settle("a", using: .custom("x") { _ in .document(fresh) })
                #expect(try database.document("a")?["v"] == "fresh")
            }
        }
    }

    // SEMANTICS 26
    @Test func `a document changed in place counts as a merge`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            try database.settle(
                "a",
                using: .couchbaseLite { _, local, _ in
                    var local = local
                    local?["extra"] = true
                    return local
                })
            #expect(try database.document("a")?.json == ["v": "here", "extra": true])
        }
    }

    // SEMANTICS 27, 28, 29, 31, 32
    @Test func `a conflict whose resolver throws is retried the next time, across a restart`() throws {
        let seen = Seen()
        let temporary = try TemporaryDatabase(.file, options: options(noting: seen))
        let database = temporary.database
        for id: DocumentID in ["a", "b", "c"] { try database.makeConflict(id) }
        let before = try database.leafNames("b")
        let report = try database.settleAll(
            using: .custom("fails over b") { conflict in
                if conflict.documentID == "b" { throw Nonsense() }
                return .document(conflict.winner)
            })
        #expect(report.settled == 2)
        #expect(report.failed == 1)
        let failure = try #require(report.failures.first)
        #expect(failure.documentID == "b")
        #expect(failure.error.code == .resolverFailed)
        #expect(failure.error.cause as? Nonsense == Nonsense())
        #expect(seen.all.count == 1)
        #expect(seen.all.first?.contains("Nonsense") == true)
        #expect(try database.leafNames("b") == before)
        try temporary.reopen()
        #expect(try temporary.database.conflictedDocumentIDs() == ["b"])
        #expect(try temporary.database.settleAll(using: .mostRevisions).settled == 1)
    }

    // SEMANTICS 34
    @Test func `a document purged while the resolver runs is not found`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let leaves = try database.leaves(of: "a").compactMap(\.revision)
            let policy = ConflictPolicy.custom("purges") { conflict in
                try database.purge("a", revisions: leaves)
                return .document(conflict.winner)
            }
            #expect(code { try database.settle("a", using: policy) } == .notFound)
            #expect(code { try database.settle("never", using: policy) } == .notFound)
        }
    }

    // SEMANTICS 35
    @Test func `a document changed while the resolver runs is settled again, and no edit is lost`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let seen = Seen()
            let settlement = try database.settle(
                "a",
                using: .couchbaseLite { _, local, remote in
                    if seen.all.isEmpty, var changed = local {
                        changed["late"] = true
                        try database.save(changed, onConflict: .fail)
                    }
                    seen.note(local?.json.description ?? "nil")
                    return local
                })
            #expect(seen.all == [#"{"v":"here"}"#, #"{"v":"here","late":true}"#])
            #expect(settlement.attempts == 2)
            #expect(try database.document("a")?.json == ["v": "here", "late": true])
        }
    }

    // SEMANTICS 36
    @Test func `a conflict that is gone when the resolver returns counts as success`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let settlement = try database.settle(
                "a",
                using: .custom("late") { conflict in
                    try database.settle("a", using: .mostRevisions)
                    return .merged(["v": "too late"], attachments: [])
                })
            #expect(settlement.outcome == .nothing)
            #expect(settlement.attempts == 1)
            #expect(try database.document("a")?["v"] != "too late")
        }
    }

    // SEMANTICS 37
    @Test func `when both sides were deleted meanwhile the resolver is not asked again`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let seen = Seen()
            let settlement = try database.settle(
                "a",
                using: .custom("deletes", deletions: true) { conflict in
                    seen.note("asked")
                    for leaf in conflict.leaves { try database.delete(leaf, onConflict: .fail) }
                    return .document(conflict.winner)
                })
            #expect(seen.all == ["asked"])
            #expect(settlement.outcome == .nothing)
            #expect(try database.document("a") == nil)
        }
    }

    // SEMANTICS 38, 78
    @Test func `a resolver may read and write other documents, and other writers proceed meanwhile`() throws {
        try withTemporaryDatabase(.file) { database in
            try database.makeConflict("a")
            try database.add("price", ["v": 7])
            try database.settle(
                "a",
                using: .custom("asks") { conflict in
                    onThreads(2) { number in _ = try? database.add(DocumentID(validating: "other\(number)"), ["v": 1]) }
                    try database.set("log", "settled", "a")
                    return .merged(["price": try database.document("price")?["v"] ?? 0], attachments: [])
                })
            #expect(try database.document("a")?["price"] == 7)
            #expect(try database.document("log") != nil)
            #expect(try database.document("other0") != nil && database.document("other1") != nil)
        }
    }

    // SEMANTICS 44
    @Test func `the elapsed time is reported, and exceeding a limit leaves the conflict`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let goOn = DispatchSemaphore(value: 0)
            var late = ConflictPolicy.custom("late") { conflict in
                goOn.wait()
                return .document(conflict.winner)
            }
            late.timeLimit = .milliseconds(1)
            #expect(code { try database.settle("a", using: late) } == .timedOut)
            #expect(try database.conflictedDocumentIDs() == ["a"])
            goOn.signal()
            let slow = ConflictPolicy.custom("slow") { conflict in
                Thread.sleep(forTimeInterval: 0.02)
                return .document(conflict.winner)
            }
            #expect(try database.settle("a", using: slow).timeInPolicy >= .milliseconds(20))
        }
    }

    @Test func `a limit of any length can be waited for`() async throws {
        let kept = try TemporaryDatabase(.plain)
        let database = kept.database
        try database.makeConflict("a")
        var policy = ConflictPolicy.asking("someone") { .document($0.winner) }
        policy.timeLimit = .seconds(Int64.max)
        try await database.settle("a", asking: policy)
        #expect(try database.conflictedDocumentIDs() == [])
    }
}
