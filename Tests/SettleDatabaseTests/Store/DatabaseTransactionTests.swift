import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseTransactionTests {
    @Test(arguments: Kinds.all)
    func `a transaction that throws leaves no trace`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let before = try database.add("a")
            #expect(throws: Nonsense.self) {
                try database.transaction {
                    try database.set("a", "v", 2)
                    try database.add("b")
                    try database.delete("a")
                    try database.saveLocalDocument("_local/x", body: .empty)
                    try database.setRevisionLimit(5)
                    try database.purge("a")
                    throw Nonsense()
                }
            }
            #expect(try database.document("a") == before)
            #expect(try database.document("b") == nil)
            #expect(try database.localDocument("_local/x") == nil)
            #expect(try database.revisionLimit() == 1000)
            #expect(try database.lastSequence() == 1)
            #expect(try database.add("c").revision?.generation == 1)
            #expect(try database.lastSequence() == 2)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `reads in a transaction see its writes`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let sum = try database.transaction {
                try database.add("a")
                try database.set("a", "v", 2)
                #expect(try database.document("a")?["v"] == 2)
                #expect(try database.changes().map(\.id) == ["a"])
                #expect(try database.lastSequence() == 2)
                #expect(try database.info().documents.live == 1)
                #expect(try database.leaves(of: "a").count == 1)
                return try database.snapshot { try database.documents().count }
            }
            #expect(sum == 1)
        }
    }

    @Test(arguments: Kinds.all)
    func `a nested transaction can fail alone`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.transaction {
                try database.add("outer")
                let inner = code {
                    try database.transaction {
                        try database.add("inner")
                        try database.add("outer")
                    }
                }
                #expect(inner == .conflict)
                #expect(try database.document("inner") == nil)
                try database.transaction { try database.transaction { try database.add("deep") } }
            }
            #expect(try database.documents().map(\.id) == ["deep", "outer"])
            #expect(try database.lastSequence() == 2)
            #expect(try database.changes().map(\.sequence.number) == [1, 2])
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `transactions from several threads take turns`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("counter", ["n": 0])
            let failures = Log<any Error>()
            onThreads(8) { number in
                for round in 0..<25 {
                    do {
                        try database.transaction {
                            let count = try database.document("counter")?["n"]?.int ?? -1
                            try database.set("counter", "n", .number(JSONNumber(count + 1)))
                            try database.add(DocumentID(validating: "\(number).\(round)"))
                            if round % 5 == 4 { throw Nonsense() }
                        }
                    } catch is Nonsense {} catch { failures.add(error) }
                }
            }
            #expect(failures.values.isEmpty)
            #expect(try database.document("counter")?["n"] == 160)
            #expect(try database.info().documents.live == 161)
            #expect(try database.problems() == [])
        }
    }

    // In memory reads and writes take turns.
    @Test func `a snapshot of a file does not see a concurrent writer`() throws {
        try withTemporaryDatabase(.file) { database in
            try database.add("a")
            try database.snapshot { () throws in
                #expect(try database.document("a")?["v"] == 1)
                onThreads(1) { _ in
                    _ = try? database.set("a", "v", 2)
                    _ = try? database.add("b")
                }
                #expect(try database.document("a")?["v"] == 1)
                #expect(try database.document("b") == nil)
                #expect(try database.lastSequence() == 1)
                #expect(try database.snapshot { try database.info().documents.live } == 1)
            }
            #expect(try database.document("a")?["v"] == 2)
        }
    }

    @Test(arguments: Kinds.all)
    func `perform runs off the caller's thread and passes errors on`(kind: DatabaseKind) async throws {
        let temporary = try TemporaryDatabase(kind)
        let database = temporary.database
        let revision = try await database.perform { try $0.add("a").revision }
        #expect(revision?.generation == 1)
        await #expect(throws: Nonsense.self) { try await database.perform { _ in throw Nonsense() } }
    }
}
