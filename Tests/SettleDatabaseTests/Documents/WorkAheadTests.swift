import PostgresTesting
import Settle
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Work that another core does before its turn: the results are those that the caller would have computed.
@Suite struct WorkAheadTests {
    @Test func `a result is ready or left to the caller, and never another item's`() {
        var (seed, ready) = (UInt64(0), 0)
        while seed < 20 || ready == 0 {
            seed += 1
            var random = SeededRandom(seed: seed)
            let items = Array(0..<random.below(300))
            let ahead = WorkAhead(items, atOnce: 1 + random.below(20)) { $0 % 7 == 0 ? nil : $0 * 3 }
            defer { ahead.end() }
            for index in items {
                if let result = ahead.dequeue(index) {
                    #expect(result == index * 3)
                    ready += 1
                }
                #expect(ahead.dequeue(index) == nil, "a result is taken once")
                for _ in 0..<random.below(2000) { _ = random.next() }
            }
        }
    }

    @Test func `an id is forecast only for the edit that it was computed for`() throws {
        let edits = (0..<40).map { DocumentEdit(id: "a", parent: nil, body: ["n": .number(JSONNumber($0))]) }
        #expect(RevisionForecast(Array(edits[..<8])) == nil)
        let parent = RevisionHasher().revision(of: .empty)
        let body = edits[39].body
        for wrong in [(body, parent, false), (edits[38].body, nil, false), (body, nil, true)] {
            let forecast = try #require(RevisionForecast(edits))
            defer { forecast.end() }
            let place = forecast.place(39)
            #expect(place.revision(of: wrong.0, parent: wrong.1, isDeleted: wrong.2, attachments: []) == nil)
        }
    }

    /// A body of random members, some of them alike.
    private func body(_ random: inout SeededRandom) -> DocumentBody {
        let text = String(repeating: "ä\"x", count: random.below(40))
        return ["n": .number(JSONNumber(random.below(4))), "text": .string(text), "list": [1, 2, .null]]
    }

    /// Stores the same attachments in all databases, for documents to share.
    private func attachments(in databases: [Database]) throws -> [DocumentAttachment] {
        try databases.map { database in
            let all = try (0..<9).map { try database.makeAttachment("a\($0)", content: [UInt8($0)]) }
            try database.save(Document(id: "attached", attachments: all), onConflict: .fail)
            return all
        }[0]
    }

    private func document(
        _ random: inout SeededRandom, _ attachments: [DocumentAttachment], in database: Database
    ) throws -> Document {
        let id = DocumentID(unchecked: "d\(random.below(90))")
        var document = try random.oneIn(8) ? Document(id: id) : database.document(id) ?? Document(id: id)
        document.setBody(body(&random))
        if random.oneIn(5) { document.attach(attachments[random.below(9)]) }
        return document
    }

    @Test(arguments: Kinds.all)
    func `a batch stores the revisions that single saves store`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { batch in
            let single = try Database.inMemory()
            defer { single.close() }
            var random = SeededRandom(seed: 2026)
            let attachments = try attachments(in: [single, batch])
            for round in 0..<12 {
                // Some are saved twice in a batch, so that the second one is in conflict, and some were deleted.
                let documents = try (0..<70).map { _ in try document(&random, attachments, in: single) }
                let choice: SaveConflict = round % 3 == 0 ? .lastWriteWins : .fail
                let saved = try batch.saveAll(documents, onConflict: choice).map { try? $0.get().revision }
                #expect(saved == documents.map { try? single.save($0, onConflict: choice).revision })
                for number in 0..<10 where random.oneIn(2) {
                    for database in [single, batch] { _ = try? database.delete("d\(number)") }
                }
            }
            for number in 0..<90 {
                let id = DocumentID(unchecked: "d\(number)")
                #expect(try batch.tree(of: id)?.revisions == single.tree(of: id)?.revisions)
            }
            #expect(try batch.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `a batch of edits stores the revisions that single edits store`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { batch in
            let single = try Database.inMemory()
            defer { single.close() }
            var random = SeededRandom(seed: 11)
            let attachments = try attachments(in: [single, batch])
            for _ in 0..<12 {
                let edits = try (0..<70).map { _ in
                    let document = try document(&random, attachments, in: single)
                    return DocumentEdit(
                        id: document.id, parent: document.revision, isDeleted: random.oneIn(6),
                        body: try document.body(), attachments: document.attachments)
                }
                let order = edits.indices.sorted { (edits[$0].id, $0) < (edits[$1].id, $1) }
                var expected = [RevisionID?](repeating: nil, count: edits.count)
                for index in order { expected[index] = try? single.write([edits[index]])[0].get() }
                #expect(try batch.write(edits).map { try? $0.get() } == expected)
            }
            #expect(try batch.problems() == [])
        }
    }

    /// Stores a document that was edited here and at a peer.
    private func makeBranches(_ id: DocumentID, _ number: Int, in database: Database) throws {
        var document = try database.save(Document(id: id, body: ["a": 0, "b": 0, "c": 0]), onConflict: .fail)
        let base = try #require(document.revision)
        document.setBody(["a": .number(JSONNumber(number)), "b": 0, "c": 1])
        try database.save(document, onConflict: .fail)
        let there: DocumentBody = ["a": 0, "b": .number(JSONNumber(number)), "c": 2]
        let edit = RevisionHasher().revision(of: there, parent: base)
        let history = try RevisionHistory(start: 2, signatures: [edit.signature, base.signature])
        try database.insertReplicated([peer(id, history, there)])
    }

    @Test func `settling ahead writes the revisions that settling one by one writes`() throws {
        try withTemporaryDatabase(.file) { ahead in
            let single = try Database.inMemory()
            defer { single.close() }
            let ids = (0..<250).map { DocumentID(unchecked: "d\($0)") }
            for database in [ahead, single] {
                for (number, id) in ids.enumerated() { try makeBranches(id, number + 1, in: database) }
            }
            let report = try ahead.settleAll(using: .threeWayMerge())
            #expect((report.settled, report.failed, report.total) == (250, 0, 250))
            for id in ids {
                try single.settle(id, using: .threeWayMerge())
                // The trees also say where contents are, which depends on the order of writes.
                #expect(try ahead.tree(of: id)?.revisions == single.tree(of: id)?.revisions)
                #expect(try ahead.leaves(of: id) == single.leaves(of: id))
            }
            #expect(try ahead.conflictedDocumentIDs() == [])
        }
    }

    @Test(arguments: [false, true])
    func `a deletion that was planned ahead keeps what the database keeps at its turn`(changes: Bool) throws {
        try withTemporaryDatabase(.file) { database in
            try makeBranches("d", 1, in: database)
            try database.setAttributesKeptOnDelete(["a"])
            let calls = Log<Bool>()
            let policy = ConflictPolicy.custom("delete") { _ in
                calls.add(true)
                return .delete
            }
            let early = try #require(EarlyDecision(LocalSource("d", in: database), policy))
            if changes { try database.setAttributesKeptOnDelete(["c"]) }
            var run = SettlementRun("d", policy, at: LocalSource("d", in: database))
            let settlement = try run.settle(early)
            #expect(settlement.attempts == 1 && calls.values.count == (changes ? 2 : 1), "\(calls.values.count)")
            let survivor = try #require(settlement.survivor)
            let tombstone = try #require(try database.document("d", revision: survivor))
            let names = try tombstone.body().json.object?.names ?? []
            #expect(tombstone.isDeleted && names == [changes ? "c" : "a"], "\(names)")
        }
    }

    @Test func `a conflict that a rule leaves is decided at its turn, which may find it settled`() throws {
        try withTemporaryDatabase(.file) { database in
            try makeBranches("d", 1, in: database)
            let policy = ConflictPolicy.custom("leave") { _ in .leaveConflicted }
            #expect(EarlyDecision(LocalSource("d", in: database), policy) == nil)
        }
    }

    @Test func `a rule of the app is called on the caller's thread`() throws {
        try withTemporaryDatabase(.file) { database in
            for number in 1...5 { try makeBranches(DocumentID(unchecked: "d\(number)"), number, in: database) }
            let caller = ThreadID.current
            let threads = Log<Bool>()
            let mine = MergeRule.custom("mine") { clash in
                threads.add(ThreadID.current == caller)
                return clash.changed.first.flatMap { clash.versions[$0] }
            }
            try database.settleAll(using: .threeWayMerge(onClash: mine))
            #expect(threads.values.count >= 5)
            #expect(!threads.values.contains(false))
        }
    }
}
