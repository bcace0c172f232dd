import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct DatabaseGroupCommitTests {
    @Test(arguments: Kinds.all)
    func `saves of sixteen threads are all stored, each with a sequence of its own`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let failures = Log<any Error>()
            onThreads(16) { thread in
                for number in 0..<200 {
                    do {
                        let saved = try database.add(DocumentID(validating: "\(thread).\(number)"))
                        // What was acknowledged is visible.
                        if try database.document(saved.id) != saved { failures.add(Nonsense()) }
                    } catch { failures.add(error) }
                }
            }
            #expect(failures.values.isEmpty)
            let changes = try database.changes()
            #expect(changes.map(\.sequence.number) == Array(1...3200))
            #expect(Set(changes.map(\.id)).count == 3200)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `errors of one writer do not affect the others`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("taken")
            let codes = Log<DatabaseErrorCode?>()
            onThreads(12) { thread in
                for number in 0..<50 {
                    switch thread % 3 {
                    case 0: codes.add(code { try database.add("taken") })
                    case 1:
                        codes.add(
                            code {
                                try database.transaction {
                                    try database.add(DocumentID(validating: "undone \(thread).\(number)"))
                                    try database.add("taken")
                                }
                            })
                    default: codes.add(code { try database.add(DocumentID(validating: "\(thread).\(number)")) })
                    }
                }
            }
            #expect(codes.values.count { $0 == .conflict } == 400)
            #expect(codes.values.count { $0 == nil } == 200)
            #expect(try database.info().documents.live == 201)
            #expect(try database.lastSequence() == 201)
            #expect(try database.changes().map(\.sequence.number) == Array(1...201))
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `edits run on another writer's thread get their own outcome`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { (database) throws in
            let failures = Log<String>()
            let body: DocumentBody = ["n": 1]
            onThreads(16) { thread in
                for number in 0..<100 {
                    let own = DocumentID(unchecked: "\(thread).\(number)")
                    // A save takes part as a writer without a job.
                    if thread == 0 {
                        _ = try? database.add(own)
                        continue
                    }
                    let edits = [own, "taken by the first"].map { DocumentEdit(id: $0, parent: nil, body: body) }
                    do {
                        let outcomes = try database.write(edits)
                        guard outcomes.count == 2, case .success(let revision) = outcomes[0] else {
                            failures.add("\(outcomes)")
                            continue
                        }
                        // What was acknowledged is visible.
                        if try database.document(own)?.revision != revision { failures.add("\(own) is not there") }
                    } catch { failures.add("\(error)") }
                }
            }
            #expect(failures.values == [])
            #expect(try database.info().documents.live == 1601)
            #expect(try database.changes().map(\.sequence.number) == Array(1...1601))
            #expect(try database.tree(of: "taken by the first")?.count == 1)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `an edit that fails in a shared commit does not affect the others`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { (database) throws in
            let body: DocumentBody = ["n": 1]
            database.addValidation("needs n") { context in
                if context.newRevision["n"] == nil { throw DocumentRejection() }
            }
            let refused = Log<Bool>()
            onThreads(12) { thread in
                for number in 0..<40 {
                    let id = DocumentID(unchecked: "\(thread).\(number)")
                    let isGood = thread % 2 == 0
                    let edit = DocumentEdit(id: id, parent: nil, body: isGood ? body : .empty)
                    let outcomes = try? database.write([edit])
                    if case .success? = outcomes?.first { refused.add(false) } else { refused.add(true) }
                }
            }
            #expect(refused.values.count { $0 } == 240)
            #expect(try database.info().documents.live == 240)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `of many writers of one document exactly one wins each round`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let start = try database.add("a", ["v": 0])
            let codes = Log<DatabaseErrorCode?>()
            onThreads(8) { thread in
                var mine = start
                mine["v"] = .number(JSONNumber(thread))
                codes.add(code { try database.save(mine, onConflict: .fail) })
            }
            #expect(codes.values.count { $0 == nil } == 1)
            #expect(codes.values.count { $0 == .conflict } == 7)
            #expect(try database.tree(of: "a")?.count == 2)
        }
    }

    // SEMANTICS 56, 146
    @Test(arguments: Kinds.all)
    func `handlers retried on many threads lose no edit`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let start = try database.add("a", ["n": 0])
            let merge = SaveConflict.merge { new, current in
                new["n"] = .number(JSONNumber((current?["n"]?.int ?? 0) + 1))
                return true
            }
            try database.set("a", "n", 0)
            onThreads(4) { _ in
                for _ in 0..<8 { _ = try? database.save(start, onConflict: merge) }
            }
            #expect(try database.document("a")?["n"] == 32)
            #expect(try database.tree(of: "a")?.leaves.count == 1)
        }
    }

    @Test func `a handler gets the state of another writer of its commit, which no reader sees yet`() throws {
        let seen = Log<JSONValue?>()
        let change: @Sendable (Database) throws -> Void = { _ = try $0.set("a", "v", 2) }
        let (isSaved, stored) = try saveInSharedCommit(after: change) { database, read in
            try database.save(
                read,
                onConflict: .merge { new, current in
                    seen.add(current?["v"])
                    new["merged"] = current?["v"]
                    return true
                })
        }
        #expect(isSaved && seen.values == [2])
        #expect(stored == ["v": 1, "merged": 2])
    }

    @Test func `a model is merged with the state of another writer of its commit, which no reader sees yet`() throws {
        struct Item: Codable {
            var v: Int
            var w: Int?
        }
        let change: @Sendable (Database) throws -> Void = { _ = try $0.set("a", "v", 2) }
        let (isSaved, stored) = try saveInSharedCommit(after: change) { database, _ in
            var item = try #require(try database.document("a", as: Item.self))
            item.w = 3
            try database.save(item)
        }
        #expect(isSaved)
        #expect(stored == ["v": 2, "w": 3])
    }

    @Test func `a deletion wins over a plain model, also if no reader sees it before the save begins`() throws {
        struct Item: Codable, Identifiable {
            var id: String
            var v: Int
        }
        let deletion: @Sendable (Database) throws -> Void = { _ = try $0.delete("a") }
        let (isSaved, stored) = try saveInSharedCommit(after: deletion) { database, _ in
            try database.save(Item(id: "a", v: 3), onConflict: .deletesWin)
        }
        #expect(!isSaved)
        #expect(stored == nil)
    }

    /// Saves a document after another writer of the same commit has changed it. The commit stays open until the save
    /// waits again, or has ended.
    ///
    /// - Parameters:
    ///   - change: The other writer's change.
    ///   - save: Saves the document, which it gets as it was read before the change.
    /// - Returns: Whether it was saved, and what is stored then.
    /// - Throws: `DatabaseError`, if the database can't be made or read.
    private func saveInSharedCommit(
        after change: @escaping @Sendable (Database) throws -> Void,
        _ save: @escaping @Sendable (_ database: Database, _ read: Document) throws -> Void
    ) throws -> (isSaved: Bool, stored: JSONValue?) {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage.file(folder("a.sqlite"))
        let engine = try #require(storage as? SQLiteEngine)
        let database = try Database.make(on: engine)
        defer {
            database.close()
            withExtendedLifetime(folder) {}
        }
        let read = try database.add("a")
        let (hasBegun, ended) = (DispatchSemaphore(value: 0), Log<Bool>())
        onThreads(3) { thread in
            switch thread {
            case 0:
                _ = try? database.transaction {
                    hasBegun.signal()
                    try change(database)
                    waitUntil("the other writers wait for their turns") { engine.waitingWrites == 2 }
                }
            case 1:
                guard hasBegun.wait(timeout: .now() + 300) == .success else { return }
                ended.add((try? save(database, read)) != nil)
            default:
                waitUntil("the save waits for its turn") { engine.waitingWrites == 1 }
                _ = try? database.transaction {
                    waitUntil("the save waits again, or has ended") {
                        engine.waitingWrites == 1 || !ended.values.isEmpty
                    }
                }
            }
        }
        return (ended.values == [true], try database.document("a")?.json)
    }
}
