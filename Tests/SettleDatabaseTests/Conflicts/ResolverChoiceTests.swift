import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Cloudant Sync's way of settling.
@Suite struct ResolverChoiceTests {
    private func threeLeaves(_ database: Database) throws {
        try database.insertReplicated([
            peer("a", path("4-x", "p", "b", "a"), ["v": "x"]), peer("a", path("3-y", "b", "a"), ["v": "y"]),
            peer("a", path("3-z", "b", "a"), ["v": "z"]),
        ])
    }

    // SEMANTICS 68, 69, 70, 71
    @Test func `all live leaves are settled in one call, on the winner, and the others are closed`() throws {
        try withTemporaryDatabase(.plain) { database in
            try threeLeaves(database)
            let seen = Seen()
            let settlement = try database.settle(
                "a",
                using: .cloudant { id, conflicts in
                    seen.note("\(id) \(conflicts.compactMap { $0["v"]?.string }.joined(separator: " "))")
                    var first = conflicts[0]
                    first["v"] = .string(conflicts.compactMap { $0["v"]?.string }.joined())
                    return first
                })
            let survivor = try #require(settlement.survivor)
            #expect(seen.all == ["a x z y"])
            #expect(survivor.generation == 5)
            #expect(try database.tree(of: "a")?.parent(of: survivor) == RevisionID("4-x"))
            #expect(try database.document("a")?["v"] == "xzy")
            #expect(try database.tree(of: "a")?.leaves.map(\.isDeleted) == [false, true, true])
            #expect(try database.conflictedDocumentIDs() == [])
        }
    }

    // SEMANTICS 74
    @Test func `another leaf that is returned unchanged wins with its content`() throws {
        try withTemporaryDatabase(.plain) { database in
            try threeLeaves(database)
            try database.settle("a", using: .cloudant { _, conflicts in conflicts.last })
            #expect(try database.document("a")?["v"] == "y")
            #expect(try database.conflictedDocumentIDs() == [])
        }
    }

    // SEMANTICS 84
    @Test func `picking the first discards the other edits`() throws {
        try withTemporaryDatabase(.plain) { database in
            try threeLeaves(database)
            let settlement = try database.settle("a", using: .cloudant { _, conflicts in conflicts.first })
            #expect(settlement.written.count == 2)
            #expect(try database.leaves(of: "a").filter { !$0.isDeleted }.map { $0["v"] } == ["x"])
        }
    }

    // SEMANTICS 75
    @Test func `nil in Cloudant's shape leaves the conflict without an error`() throws {
        try withTemporaryDatabase(.plain) { database in
            try threeLeaves(database)
            let before = try database.lastSequence()
            #expect(try database.settle("a", using: .cloudant { _, _ in nil }).outcome == .left)
            #expect(try database.lastSequence() == before)
            #expect(try database.conflictedDocumentIDs() == ["a"])
        }
    }

    // SEMANTICS 76
    @Test func `with a single live leaf no resolver is asked`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("2-b", "a"), ["v": 1]), peer("a", path("2-c", "a"), isDeleted: true),
            ])
            let seen = Seen()
            let settlement = try database.settle(
                "a",
                using: .cloudant { _, conflicts in
                    seen.note("asked")
                    return conflicts.first
                })
            #expect(settlement.outcome == .nothing)
            #expect(seen.all == [])
        }
    }

    // SEMANTICS 77, 83, K7
    @Test func `a resolver that gives different answers to the same conflict is reported`() throws {
        let seen = Seen()
        try withTemporaryDatabase(.plain, options: options(noting: seen)) { database in
            for id: DocumentID in ["pure", "impure"] { try database.makeConflict(id) }
            let count = Log<Int>()
            var impure = ConflictPolicy.custom("counts") { _ in
                count.add(1)
                return .merged(["n": .number(JSONNumber(count.values.count))], attachments: [])
            }
            var pure = ConflictPolicy.custom("constant") { _ in .merged(["n": 0], attachments: []) }
            impure.checksPurity = true
            pure.checksPurity = true
            #expect(try database.settle("pure", using: pure).warnings == [])
            #expect(seen.all == [])
            let settlement = try database.settle("impure", using: impure)
            #expect(settlement.outcome == .settled)
            #expect(settlement.warnings.count == 1)
            #expect(seen.all == settlement.warnings)
            #expect(seen.all[0].contains("counts"))
        }
    }

    // SEMANTICS 24, 79
    @Test func `a result may keep, change and drop attachments of any leaf, and add new ones`() throws {
        try withTwoDatabases { first, second in
            var base = try first.add("a")
            base.attach(try first.makeAttachment("base", contentType: "image/png", content: Array("base".utf8)))
            base = try first.save(base, onConflict: .fail)
            try second.pull(from: first)
            var mine = base
            mine.attach(try first.makeAttachment("mine", contentType: "image/png", content: Array("mine".utf8)))
            try first.save(mine, onConflict: .fail)
            var theirs = try #require(try second.document("a"))
            theirs.attach(try second.makeAttachment("theirs", contentType: "image/png", content: Array("theirs".utf8)))
            try second.save(theirs, onConflict: .fail)
            try first.pull(from: second)
            let new = try first.makeAttachment("new", contentType: "image/png", content: Array("new".utf8))
            try first.settle(
                "a",
                using: .custom("attachments") { conflict in
                    let kept = conflict.leaves.compactMap { $0.attachment("mine") ?? $0.attachment("theirs") }
                    return .merged(["v": 9], attachments: kept + [new])
                })
            let settled = try #require(try first.document("a"))
            #expect(Set(settled.attachments.map(\.name)) == ["mine", "theirs", "new"])
            for attachment in settled.attachments {
                #expect(try first.content(of: attachment) == Array(attachment.name.utf8))
            }
            #expect(try first.problems() == [])
            try second.pull(from: first)
            #expect(try second.document("a")?.attachments.map(\.name) == settled.attachments.map(\.name))
        }
    }

    // SEMANTICS 24
    @Test func `an attachment of another database is an error, and the conflict stays`() throws {
        try withTwoDatabases { first, second in
            try first.makeConflict("a")
            var other = try second.add("b")
            other.attach(try second.makeAttachment("x", contentType: "image/png", content: Array("else".utf8)))
            let foreign = try second.save(other, onConflict: .fail).attachments
            let before = try first.leafNames("a")
            #expect(
                code { try first.settle("a", using: .custom("x") { _ in .merged(["v": 1], attachments: foreign) }) }
                    == .attachmentMissing)
            #expect(try first.leafNames("a") == before)
        }
    }

    // SEMANTICS 80
    @Test func `a revision that is not a leaf of the conflict can't be kept`() throws {
        try withTemporaryDatabase(.plain) { database in
            try threeLeaves(database)
            let before = try database.leafNames("a")
            let madeUp = try RevisionID(validating: "9-made")
            #expect(code { try database.settle("a", using: .custom("x") { _ in .keep(madeUp) }) } == .invalid)
            #expect(try database.leafNames("a") == before)
        }
    }

    @Test func `a validation that refuses the result leaves the conflict unchanged`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let before = try database.leafNames("a")
            database.addValidation("no closing") { context in
                if context.newRevision.isDeleted { throw DocumentRejection(message: "nothing may be deleted") }
            }
            #expect(code { try database.settle("a", using: .threeWayMerge()) } == .refused)
            #expect(try database.leafNames("a") == before)
            // Also inside a transaction that continues.
            try database.transaction {
                #expect(code { try database.settle("a", using: .threeWayMerge()) } == .refused)
                try database.add("b")
            }
            #expect(try database.leafNames("a") == before)
            #expect(try database.document("b") != nil)
        }
    }

    @Test func `a validation can distinguish the closing of a branch from a user's deletion`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            database.addValidation("no deletions") { context in
                if context.newRevision.isDeleted, !context.isClosing { throw DocumentRejection(message: "stay") }
            }
            #expect(try database.settle("a", using: .threeWayMerge()).outcome == .settled)
            #expect(code { try database.delete("a") } == .refused)
        }
    }
}
