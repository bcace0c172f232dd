import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// What a policy or a person does to a document, told before it is done.
@Suite struct SettlementEffectTests {
    /// The effect of a policy on the document `d`.
    private func effect(_ policy: ConflictPolicy, _ revisions: [ReplicatedRevision]) throws -> SettlementEffect {
        try withTemporaryDatabase(.plain) { database in
            for revision in revisions { try database.insertReplicated([revision]) }
            return SettlementEffect(try #require(try database.preview("d", using: policy)))
        }
    }

    /// A leaf, or the base if there is no parent.
    private func revision(
        _ newest: String, on base: String? = "1", _ body: DocumentBody, isDeleted: Bool = false
    ) throws -> ReplicatedRevision {
        let history = try base.map { try path(newest, $0) } ?? path(newest)
        return peer("d", history, body, isDeleted: isDeleted)
    }

    private func text(_ effect: SettlementEffect) -> [String] {
        effect.losses.map { loss in
            let value = loss.value.map { " \($0)" } ?? ""
            return "\(loss.leaf) \(loss.kind.rawValue) \(loss.path)\(value)"
        }
    }

    private func row(_ path: String, of effect: SettlementEffect) throws -> SettlementEffect.Row {
        try #require(effect.rows.first { $0.path == path }, "\(effect.rows.map(\.path))")
    }

    private func twoEditsAndADeletion() throws -> [ReplicatedRevision] {
        [
            try revision("1-1", on: nil, ["rpm": 1, "owner": "ann"]), try revision("2-w", ["rpm": 2, "owner": "ann"]),
            try revision("2-b", ["rpm": 1, "owner": "ben"]), try revision("2-t", [:], isDeleted: true),
        ]
    }

    // MARK: - The whole document

    @Test(arguments: [
        ConflictPolicy.deletesWin, .latestDocumentWins, .threeWayMerge(deletionsWin: true),
        .custom("delete", deletions: true) { _ in .delete },
    ]) func `a deletion loses the document and each edit`(policy: ConflictPolicy) throws {
        let effect = try effect(policy, twoEditsAndADeletion())
        #expect(effect.outcome == .deletes)
        #expect(effect.words == "deletes the document, with 2 members")
        #expect(text(effect) == ["2-w document ", "2-w value /rpm 2", #"2-b value /owner "ben""#])
        #expect(effect.rows.map(\.path) == ["/rpm", "/owner"] && effect.rows.allSatisfy { $0.result == nil })
        #expect(effect.rows.allSatisfy { $0.sources.isEmpty && $0.reason == "the document is deleted" })
    }

    @Test func `an edit that is kept overrules the deletion and the other edits`() throws {
        let kept = try RevisionID(validating: "2-b")
        let effect = try effect(.custom("keep", deletions: true) { _ in .keep(kept) }, twoEditsAndADeletion())
        #expect(effect.outcome == .keeps(kept) && effect.words == "keeps 2-b")
        #expect(text(effect) == ["2-t deletion ", "2-w value /rpm 2"])
    }

    @Test func `a policy that does not decide about deletions says that the deletion stays`() throws {
        let effect = try effect(.threeWayMerge(), twoEditsAndADeletion())
        #expect(effect.outcome == .merges && text(effect).isEmpty)
        #expect(effect.words == "merges 2 leaves, 0 clashes; the deletion beside it stays")
    }

    @Test func `a policy that leaves the conflict loses nothing and has no result`() throws {
        let edits = [
            try revision("1-1", on: nil, ["n": 1]), try revision("2-w", ["n": 2]), try revision("2-b", ["n": 3]),
        ]
        let effect = try effect(.threeWayMerge(onClash: .leave), edits)
        #expect(effect.outcome == .leaves && effect.losses.isEmpty && effect.words == "leaves the conflict as it is")
        let row = try row("/n", of: effect)
        #expect(row.isLeft && row.isClash && row.result == nil && row.reason == "clash, left in conflict")
    }

    // MARK: - Members

    private static let keeping: [(ConflictPolicy, String)] = [
        (.mostRevisions, "2-w"), (.deletesWin, "2-w"), (.localWins, "2-w"), (.remoteWins, "2-b"),
        (.latestDocumentWins, "2-w"), (.cloudant { $1.last }, "2-b"),
    ]

    @Test(arguments: keeping) func `where a leaf stays the result is that leaf's, not a merge's`(
        policy: ConflictPolicy, kept: String
    ) throws {
        let edits = [
            try revision("1-1", on: nil, ["cracks": 3, "title": "Wall", "note": "?"]),
            try revision("2-w", ["cracks": 3, "title": "Wall (east)", "note": "?"]),
            try revision("2-b", ["cracks": 5, "title": "Wall"]),
        ]
        let effect = try effect(policy, edits)
        let keepsFirst = kept == "2-w"
        let leaf = try RevisionID(validating: kept)
        #expect(effect.outcome == .keeps(leaf))
        #expect(try row("/cracks", of: effect).result == (keepsFirst ? 3 : 5))
        #expect(try row("/title", of: effect).result == (keepsFirst ? "Wall (east)" : "Wall"))
        #expect(try row("/note", of: effect).result == (keepsFirst ? JSONValue?.some("?") : JSONValue?.none))
        #expect(try row("/cracks", of: effect).reason == "\(kept) stays")
        #expect(
            text(effect)
                == (keepsFirst ? ["2-b value /cracks 5", "2-b removal /note"] : [#"2-w value /title "Wall (east)""#]))
    }

    @Test func `what a rule has joined is not lost`() throws {
        let rules = MergeRules(attributes: ["/n": .sum, "/tags": .union, "/text": .lines])
        let effect = try effect(
            .threeWayMerge(rules),
            [
                try revision("1-1", on: nil, ["n": 10, "tags": ["a"], "text": "one\ntwo\nthree\nfour\n"]),
                try revision("2-w", ["n": 12, "tags": ["a", "b"], "text": "ONE\ntwo\nthree\nfour\n"]),
                try revision("2-b", ["n": 15, "tags": ["c"], "text": "one\ntwo\nthree\nFOUR\n"]),
            ])
        #expect(effect.outcome == .merges && text(effect).isEmpty)
        for (path, result) in [("/n", 17), ("/tags", ["b", "c"]), ("/text", "ONE\ntwo\nthree\nFOUR\n")]
            as [(String, JSONValue)]
        {
            let row = try row(path, of: effect)
            #expect(row.result == result && row.sources.map(\.description) == ["2-w", "2-b"])
        }
    }

    @Test func `a rule that does not fit has joined nothing`() throws {
        let effect = try effect(
            .threeWayMerge(MergeRules(attributes: ["/n": .sum])),
            [
                try revision("1-1", on: nil, ["n": 10]), try revision("2-w", ["n": 12]),
                try revision("2-b", ["n": "many"]),
            ])
        #expect(text(effect) == [#"2-b value /n "many""#])
        let winner = try RevisionID(validating: "2-w")
        #expect(effect.outcome == .keeps(winner))
    }

    @Test func `arrays that are merged by identity are compared element by element`() throws {
        let effect = try effect(
            .threeWayMerge(MergeRules(attributes: ["/items": .array(identifiedBy: "id")])),
            [
                try revision("1-1", on: nil, ["items": [["id": 1, "n": 1], ["id": 2, "n": 1], ["id": 3, "n": 1]]]),
                try revision("2-w", ["items": [["id": 1, "n": 2], ["id": 2, "n": 1], ["id": 3, "n": 7]]]),
                try revision("2-b", ["items": [["id": 1, "n": 3], ["id": 2, "n": 5]]]),
            ])
        // The change of the third element wins over its removal, and the winner's change of the first one wins.
        #expect(text(effect) == ["2-b value /items/1/n 3", "2-b removal /items/3"])
        #expect(try row("/items", of: effect).sources.map(\.description) == ["2-w"])
    }

    @Test func `a member that only the last of many leaves has changed has a row`() throws {
        var revisions = [try revision("1-1", on: nil, ["n": 0, "checklist": ["oil": false, "noise": false]])]
        for (index, name) in ["h", "g", "f", "e", "c", "b", "a"].enumerated() {
            let isLast = name == "a"
            let body: DocumentBody = [
                "n": .number(JSONNumber(index)), "checklist": ["oil": .bool(isLast), "noise": false],
            ]
            revisions.append(try revision("2-\(name)", body))
        }
        let effect = try effect(.threeWayMerge(), revisions)
        let row = try row("/checklist/oil", of: effect)
        #expect(row.result == true && row.base == false && row.sources.map(\.description) == ["2-a"])
        #expect(row.values.map(\.value) == [false, true] && row.values.map(\.leaves.count) == [6, 1])
        #expect(try self.row("/n", of: effect).values.count == 7)
    }

    @Test func `a value that a newer edit of the same branch has replaced is not lost`() throws {
        let revisions = [
            try revision("1-1", on: nil, ["n": 0, "m": 0]), peer("d", try path("2-x", "1"), ["n": 5, "m": 0]),
            peer("d", try path("3-w", "x", "1"), ["n": 5, "m": 1]),
            peer("d", try path("3-b", "x", "1"), ["n": 8, "m": 0]),
            try revision("2-c", ["n": 0, "m": 0, "o": 1]),
        ]
        #expect(try text(effect(.threeWayMerge(), revisions)).isEmpty)
        // Where the edit that replaced it is lost, both are.
        let kept = try RevisionID(validating: "2-c")
        #expect(
            try text(effect(.custom("keep") { _ in .keep(kept) }, revisions))
                == ["3-w value /n 5", "3-w value /m 1", "3-b value /n 8"])
    }

    @Test func `a value that one step of a merge left out is lost, though another step joins the others`() throws {
        let revisions = [
            try revision("1-1", on: nil, ["n": 0]), peer("d", try path("2-x", "1"), ["n": 5]),
            peer("d", try path("3-w", "x", "1"), ["n": 8]), peer("d", try path("3-b", "x", "1"), ["n": "many"]),
            try revision("2-c", ["n": 2]),
        ]
        let effect = try effect(.threeWayMerge(MergeRules(attributes: ["/n": .sum])), revisions)
        let row = try row("/n", of: effect)
        #expect(row.result == 10 && row.sources.map(\.description) == ["3-w", "2-c"])
        #expect(text(effect) == [#"3-b value /n "many""#])
    }

    @Test func `objects are compared member by member, and the clocks of attributes are not compared`() throws {
        let effect = try effect(
            .mostRevisions,
            [
                try revision("1-1", on: nil, ["a": ["b": 1, "c": 1]]),
                try revision("2-w", ["a": ["b": 2, "c": 1], "$clocks": ["/a/b": "1-0-1 00"]]),
                try revision("2-b", ["a": ["b": 1], "$clocks": ["/a/c": "1-0-2 00"]]),
            ])
        #expect(effect.rows.map(\.path) == ["/a/b", "/a/c"])
        #expect(text(effect) == ["2-b removal /a/c"])
    }

    @Test func `without a base every value is an addition, and what is the same everywhere has no row`() throws {
        let effect = try effect(
            .mostRevisions,
            [try revision("1-b", on: nil, ["x": 1, "y": 1]), try revision("1-a", on: nil, ["x": 1, "y": 2, "z": 3])])
        #expect(effect.isBaseKnown && effect.rows.map(\.path) == ["/y", "/z"])
        #expect(text(effect) == ["1-a value /y 2", "1-a value /z 3"])
    }

    @Test func `the effect says that the content of the base is not kept`() throws {
        let effect = try effect(.mostRevisions, [try revision("2-w", ["x": 1]), try revision("2-b", ["y": 1])])
        #expect(!effect.isBaseKnown && text(effect) == ["2-b value /y 1"])
    }

    // MARK: - Attachments and picks

    /// Two leaves with different attachments of one name.
    private func photos(_ body: (Database) throws -> Void) throws {
        try withTemporaryDatabase(.plain) { database in
            func photo(_ bytes: [UInt8]) throws -> DocumentAttachment {
                try database.makeAttachment("a/photo", contentType: "image/png", content: bytes)
            }
            let note = try database.makeAttachment("note", content: [7])
            try database.insertReplicated([
                peer("d", path("1-1"), ["n": 1], attachments: [photo([1]), note]),
                peer("d", path("2-w", "1"), ["n": 1], attachments: [photo([1, 2]), note]),
                peer("d", path("2-b", "1"), ["n": 1], attachments: [photo([1, 2, 3])]),
            ])
            try body(database)
        }
    }

    @Test func `a loss of an attachment has the name of the attachment`() throws {
        try photos { database in
            let preview = try #require(try database.preview("d", using: .threeWayMerge()))
            let effect = SettlementEffect(preview)
            #expect(effect.rows.map(\.path) == ["/_attachments/a~1photo", "/_attachments/note"])
            #expect(effect.rows[0].isClash && effect.rows[0].result?["length"] == 2)
            #expect(effect.rows[0].base?["content_type"] == "image/png" && effect.rows[1].result == nil)
            #expect(effect.losses.map(\.kind) == [.attachment] && effect.losses[0].path == "/_attachments/a~1photo")
            #expect(effect.losses[0].value?["length"] == 3 && effect.losses[0].leaf.description == "2-b")
        }
    }

    @Test func `an attachment is picked by its name`() throws {
        try photos { database in
            let pick = MemberPick("/_attachments/a~1photo", .leaf(try RevisionID(validating: "2-b")))
            let policy = ConflictPolicy.threeWayMerge().laying([pick])
            let effect = SettlementEffect(try #require(try database.preview("d", using: policy)))
            #expect(effect.rows[0].isPicked && effect.rows[0].result?["length"] == 3)
            #expect(effect.losses.map(\.leaf.description) == ["2-w"])
        }
    }

    @Test func `a pick is in the result of a policy that keeps a leaf, and what it replaces is lost`() throws {
        let edits = [
            try revision("1-1", on: nil, ["n": 1, "m": 1]), try revision("2-w", ["n": 2, "m": 2]),
            try revision("2-b", ["n": 3, "m": 1]),
        ]
        let pick = MemberPick("/n", .leaf(try RevisionID(validating: "2-b")))
        let effect = try effect(.mostRevisions.laying([pick]), edits)
        let row = try row("/n", of: effect)
        #expect(effect.outcome == .merges && row.isPicked && row.reason == "picked" && row.result == 3)
        #expect(row.sources.map(\.description) == ["2-b"])
        #expect(text(effect) == ["2-w value /n 2"])
    }

    // MARK: - Policies that can't run

    @Test func `a policy says why it can't settle a conflict`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("d", path("1-1"), ["n": 1]), peer("d", path("2-w", "1"), ["n": 2]),
                peer("d", path("2-t", "1"), isDeleted: true),
            ])
            let conflict = try #require(try database.conflict(of: "d"))
            let obstacles = ReadyPolicy.all.filter { $0.obstacle(to: conflict) != nil }.map(\.name)
            #expect(obstacles.contains("threeWayMerge") && obstacles.contains("keepAll"))
            #expect(!obstacles.contains("deletesWin") && !obstacles.contains("latestDocumentWins"))
            let reason = ReadyPolicy.named("threeWayMerge")?.obstacle(to: conflict)
            #expect(reason?.contains("deletesWin") == true)
        }
    }

    @Test func `sides decide only where leaves of both sides are known`() throws {
        try withTwoDatabases { mixed, local in
            try mixed.makeConflict("a")
            let first = try local.add("a")
            for value: JSONValue in [1, 2] {
                var edit = first
                edit["v"] = value
                try local.save(edit, onConflict: .branch)
            }
            let (both, one) = (try #require(try mixed.conflict(of: "a")), try #require(try local.conflict(of: "a")))
            for policy in ReadyPolicy.all where !policy.decides.isEmpty {
                #expect(policy.obstacle(to: both) == nil)
                #expect((policy.obstacle(to: one) == nil) == !policy.dependsOnSides)
            }
        }
    }
}
