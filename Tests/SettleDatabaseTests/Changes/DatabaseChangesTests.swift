import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseChangesTests {
    // SEMANTICS 203, 204
    @Test(arguments: Kinds.all)
    func `each document is listed once, at its last change`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for id: DocumentID in ["a", "b", "c"] { try database.add(id) }
            try database.set("a", "v", 2)
            try database.saveLocalDocument("_local/x", body: ["v": 1])
            try database.delete("b")
            let changes = try database.changes()
            #expect(changes.map(\.id) == ["c", "a", "b"])
            #expect(changes.map(\.sequence.number) == [3, 4, 5])
            #expect(changes.map(\.isDeleted) == [false, false, true])
            #expect(changes.map(\.winner.generation) == [1, 2, 2])
            #expect(changes.allSatisfy { $0.document == nil && $0.leaves == [$0.winner] })
        }
    }

    @Test(arguments: Kinds.all)
    func `since, limit and order`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for number in 1...5 { try database.add(DocumentID(validating: "d\(number)")) }
            func numbers(_ changes: [Change]) -> [Int64] { changes.map(\.sequence.number) }
            #expect(numbers(try database.changes(since: 3)) == [4, 5])
            #expect(numbers(try database.changes(since: 1, limit: 2)) == [2, 3])
            #expect(numbers(try database.changes(descending: true)) == [5, 4, 3, 2, 1])
            #expect(numbers(try database.changes(since: 2, limit: 2, descending: true)) == [5, 4])
            #expect(numbers(try database.changes(since: 5)) == [])
            #expect(numbers(try database.changes(since: 99)) == [])
            #expect(numbers(try database.changes(limit: 0)) == [])
            #expect(numbers(try database.changes(limit: -1)) == [])
        }
    }

    // SEMANTICS 60
    @Test(arguments: Kinds.all)
    func `all leaves are listed, winner first`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), ["v": "b"]), peer("a", try path("2-c", "a"), ["v": "c"]),
                peer("a", try path("5-d"), isDeleted: true),
            ])
            let change = try #require(try database.changes(style: .allLeaves, includingDocuments: true).first)
            #expect(change.leaves.map(\.description) == ["2-c", "2-b", "5-d"])
            #expect(change.document?["v"] == "c")
            #expect(try database.changes(style: .winner).first?.leaves.map(\.description) == ["2-c"])
        }
    }

    // SEMANTICS 129
    @Test(arguments: Kinds.all)
    func `a filter decides by content, and the limit counts the changes that pass`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for number in 1...9 {
                try database.add(DocumentID(validating: "d\(number)"), ["worker": .number(JSONNumber(number % 3))])
            }
            let passed = try database.changes(limit: 2, includingDocuments: true) { $0.document?["worker"] == 2 }
            #expect(passed.map(\.id) == ["d2", "d5"])
            let rest = try database.changes(since: passed[1].sequence) { $0.id != "d7" }
            #expect(rest.map(\.id) == ["d6", "d8", "d9"])
            #expect(throws: Nonsense.self) { try database.changes { _ in throw Nonsense() } }
        }
    }

    // SEMANTICS 132
    @Test(arguments: Kinds.all)
    func `a document that no longer matches a filter is no longer listed`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a", ["worker": 1])
            let first = try database.changes(includingDocuments: true) { $0.document?["worker"] == 1 }
            try database.set("a", "worker", 2)
            let since = try #require(first.last?.sequence)
            let second = try database.changes(since: since, includingDocuments: true) { $0.document?["worker"] == 1 }
            #expect(first.count == 1)
            #expect(second.isEmpty)
        }
    }

    @Test(arguments: Kinds.all)
    func `changes past one page are all listed, both ways`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let documents = try (0..<1301).map { Document(id: try DocumentID(validating: "d\($0)")) }
            try database.saveAll(documents, onConflict: .fail)
            #expect(try database.changes().map(\.sequence.number) == Array(1...1301))
            #expect(try database.changes(descending: true).map(\.sequence.number) == (1...1301).reversed())
            #expect(try database.changes(limit: 501).count == 501)
            #expect(try database.changes(since: 1) { $0.sequence.number % 100 == 0 }.count == 13)
        }
    }

    @Test(arguments: Kinds.all)
    func `a purge advances the sequence and removes the change`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        try temporary.database.add("a")
        try temporary.database.add("b")
        try temporary.database.purge("b")
        #expect(try temporary.database.changes().map(\.id) == ["a"])
        #expect(try temporary.database.lastSequence() == 3)
        try temporary.reopen()
        #expect(try temporary.database.lastSequence() == 3)
        try temporary.database.add("c")
        #expect(try temporary.database.changes().map(\.sequence.number) == [1, 4])
    }
}
