import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Reads of the local leaf while a conflict waits (``DatabaseOptions/Reads/local``).
@Suite struct LocalReadsTests {
    private func options(_ reads: DatabaseOptions.Reads) -> DatabaseOptions {
        var options = DatabaseOptions.quiet
        options.reads = reads
        return options
    }

    private static let ids = (0..<16).map { DocumentID(stringLiteral: "d\($0)") }

    /// Conflicts of documents of which each side wins some.
    private func makeConflicts(_ database: Database) throws {
        for id in Self.ids {
            try database.makeConflict(
                id, here: ["by": "here", "id": .string(id.string)], there: ["by": "there", "id": .string(id.string)])
        }
        let winners = try Set(Self.ids.map { try database.leaves(of: $0).first?["by"]?.string })
        #expect(winners == ["here", "there"])
    }

    private func sides(_ database: Database) throws -> [String] {
        try Self.ids.map { try database.document($0)?["by"]?.string ?? "none" }
    }

    // SEMANTICS 28
    @Test(arguments: Kinds.all)
    func `a read shows the local leaf while a conflict waits, also after a restart, and then the winner`(
        kind: DatabaseKind
    ) throws {
        let temporary = try TemporaryDatabase(kind, options: options(.local))
        try makeConflicts(temporary.database)
        #expect(try sides(temporary.database) == Self.ids.map { _ in "here" })
        try temporary.reopen()
        let database = temporary.database
        #expect(try sides(database) == Self.ids.map { _ in "here" })
        for id in Self.ids {
            let conflict = try #require(try database.conflict(of: id))
            #expect(try database.document(id)?.revision == conflict.local?.revision)
            // The winner is the same as for everybody.
            #expect(try database.tree(of: id)?.winner?.revision == conflict.winner.revision)
        }
        #expect(try Set(database.documents().map { $0["by"] }) == ["here", "there"])
        try database.settleAll(using: .mostRevisions)
        for id in Self.ids {
            #expect(try database.document(id)?.revision == database.tree(of: id)?.winner?.revision)
        }
        #expect(Set(try sides(database)) == ["here", "there"])
    }

    // SEMANTICS 28
    @Test func `by default a read shows the winner, whichever side that is`() throws {
        let database = try Database.plain(options: options(.winner))
        try makeConflicts(database)
        for id in Self.ids {
            #expect(try database.document(id)?.revision == database.leaves(of: id).first?.revision)
        }
    }

    @Test(arguments: Kinds.all)
    func `edits continue the local leaf, and the other leaf stays`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind, options: options(.local))
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        try makeConflicts(database)
        for (number, id) in Self.ids.enumerated() {
            let before = try #require(try database.document(id))
            let other = try #require(try database.leaves(of: id).first { $0["by"] == "there" }?.revision)
            let saved: Document
            switch number % 4 {
            case 0: saved = try database.update(id) { $0["n"] = 1 }
            case 1:
                var document = before
                document["n"] = 1
                saved = try database.save(document, onConflict: .fail)
            case 2:
                saved = try database.save(Document(id: id, body: ["by": "here", "n": 1]), onConflict: .lastWriteWins)
            default:
                saved = try database.save(
                    Document(id: id, body: ["n": 1]),
                    onConflict: .merge { new, current in
                        new["by"] = current?["by"]
                        return true
                    })
            }
            #expect(try database.document(id)?.revision == saved.revision)
            #expect(saved["n"] == 1 && saved["by"] == "here", "\(number)")
            let tree = try #require(try database.tree(of: id))
            #expect(saved.revision.flatMap { tree.parent(of: $0) } == before.revision)
            #expect(tree[other]?.isLeaf == true && tree.leaves.count == 2)
        }
    }

    /// Deletes a document here that a peer edits; returns it as it was before.
    private func deleteWhatAPeerEdits(in database: Database) throws -> Document {
        let first = try database.save(Document(id: "a", body: ["v": 0]))
        let peer = try Database.plain()
        try peer.pull(from: database)
        try database.delete(first)
        try peer.update("a") { $0["v"] = 1 }
        try database.pull(from: peer)
        return first
    }

    @Test(arguments: Kinds.all)
    func `a local deletion reads as deleted while a peer's edit waits, and can be written over`(
        kind: DatabaseKind
    ) throws {
        let temporary = try TemporaryDatabase(kind, options: options(.local))
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        _ = try deleteWhatAPeerEdits(in: database)
        #expect(try database.conflict(of: "a")?.kind == .deletion)
        #expect(try database.document("a") == nil)
        #expect(throws: DatabaseError.self) { try database.delete("a") }
        // It can be written again, on the local side.
        let again = try database.updateOrCreate("a") { $0["v"] = 2 }
        #expect(try database.document("a")?.revision == again.revision)
        #expect(try database.leaves(of: "a").filter { !$0.isDeleted }.count == 2)
        // As everywhere, a deletion in a conflict removes one leaf, and then the other one is left.
        try database.delete("a")
        #expect(try database.leaves(of: "a").filter { !$0.isDeleted }.map { $0["v"] } == [1])
        #expect(try database.document("a")?["v"] == 1)
    }

    @Test(arguments: Kinds.all)
    func `a delete that merges leaves a local deletion alone while a peer's edit waits`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind, options: options(.local))
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        let first = try deleteWhatAPeerEdits(in: database)
        let calls = Log<Bool>()
        // It gives up at last, so that a delete without end fails this test.
        let handler = SaveConflict.merge { _, current in
            calls.add(current == nil)
            return calls.values.count < 5
        }
        #expect(try database.delete(first, onConflict: handler) == nil)
        #expect(calls.values == [])
        #expect(try database.delete(Document(id: "a"), onConflict: handler) == nil)
        #expect(calls.values == [true])
        let edit = try #require(try database.leaves(of: "a").first { !$0.isDeleted })
        #expect(edit["v"] == 1)
        // The peer's leaf itself can be deleted.
        #expect(try database.delete(edit, onConflict: handler)?.isDeleted == true)
        #expect(try database.leaves(of: "a").allSatisfy(\.isDeleted))
        #expect(calls.values == [true])
    }

    @Test(.timeLimit(.minutes(5)))
    func `an observer of a document does not see a pulled leaf before the conflict is settled`() async throws {
        let database = try Database.plain(options: options(.local))
        let id = try #require(
            try {
                try makeConflicts(database)
                return try Self.ids.first { try database.leaves(of: $0).first?["by"] == "there" }
            }())
        var states = database.observe(id).makeAsyncIterator()
        #expect(try await states.next()??["by"] == "here")
        try database.settle(id, using: .mostRevisions)
        #expect(try await states.next()??["by"] == "there")
    }
}
