import PostgresTesting
import Settle
import SettleCore
import SettleTesting
import Testing

/// Revisions that arrive in an order in which contents have to be moved.
@Suite struct DatabaseJoinTests {
    // SEMANTICS 60, 202
    @Test(arguments: Kinds.all)
    func `contents stay with their revisions when an inner one joins two roots`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([peer("x", try path("4-d", "c"), ["was": "d"], isDeleted: true)])
            try database.insertReplicated([peer("x", try path("1-a"), ["was": "a"])])
            #expect(try database.document("x")?["was"] == "a")
            let joining = peer("x", try path("3-c", "b", "a"), ["was": "c"])
            #expect(try database.insertReplicated([joining]).map(\.word) == ["stored"])
            #expect(try database.tree(of: "x")?.isDeleted == true)
            #expect(try database.problems() == [])
            for (revision, was) in [("1-a", "a"), ("3-c", "c"), ("4-d", "d")] {
                let document = try database.document("x", revision: RevisionID(validating: revision))
                #expect(try document?.body().json["was"] == .string(was))
            }
            try database.save(Document(id: "x", body: ["was": "revived"]), onConflict: .fail)
            #expect(try database.document("x", revision: RevisionID(validating: "4-d"))?["was"] == "d")
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 6
    @Test(arguments: Kinds.all)
    func `an edit that a peer has made before is the same revision`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let first = try database.save(Document(id: "x", body: ["v": 1]), onConflict: .fail)
            let parent = try #require(first.revision)
            let edit = RevisionHasher().revision(of: .empty, parent: parent, isDeleted: true)
            // The peer's tombstone came with a stemmed history, so it is a separate root.
            try database.insertReplicated([peer("x", RevisionHistory(edit), isDeleted: true)])
            #expect(try database.document("x")?.revision == parent)
            let deleted = try #require(try database.delete(first, onConflict: .fail))
            #expect(deleted.revision == edit)
            #expect(try database.tree(of: "x")?.leaves.map(\.revision) == [edit])
            #expect(try database.document("x") == nil)
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 114, 118
    @Test(arguments: Kinds.all)
    func `a validation sees the leaf that is edited, not the winner`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let seen = Seen()
            try database.insertReplicated([
                peer("x", try path("2-z", "a"), ["owner": "winner"]),
                peer("x", try path("2-b", "a"), ["owner": "loser"]),
            ])
            database.addValidation("see") { context in seen.note(context.currentRevision?["owner"]?.string ?? "-") }
            let loser = try #require(try database.document("x", revision: RevisionID(validating: "2-b")))
            try database.delete(loser, onConflict: .fail)
            try database.insertReplicated([peer("x", try path("3-y", "z", "a")), peer("x", try path("1-q"))])
            #expect(seen.all == ["loser", "winner", "-"])
            // An inner revision that gets its content late is validated as well.
            database.addValidation("never") { _ in throw DocumentRejection() }
            #expect(try database.insertReplicated([peer("x", try path("1-a"))]).map(\.word) == ["refused"])
        }
    }

    @Test func `deleting with a handler succeeds when the document is already deleted`() throws {
        try withTemporaryDatabase(.plain) { database in
            let saved = try database.save(Document(id: "x"), onConflict: .fail)
            try database.delete(saved, onConflict: .fail)
            #expect(try database.delete(Document(id: "x"), onConflict: .merge { _, _ in true }) == nil)
            #expect(try database.delete(saved, onConflict: .merge { _, _ in true }) == nil)
        }
    }

    @Test func `attachments are distinguished by the bytes of their names`() throws {
        try withTemporaryDatabase(.plain) { database in
            var document = Document(id: "x")
            for name in ["\u{E9}", "e\u{301}"] {
                document.attach(try database.makeAttachment(name, content: Array(name.utf8)))
            }
            #expect(document.attachments.count == 2)
            let saved = try database.save(document, onConflict: .fail)
            #expect(try saved.attachment("\u{E9}").map { try database.content(of: $0) } == [0xC3, 0xA9])
        }
    }
}
