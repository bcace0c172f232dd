import CSQLite
import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Commits that SQLite refuses, shared by several writers.
@Suite struct FailedCommitTests {
    enum Fault: CaseIterable {
        /// SQLite rolls the transaction back by itself.
        case hook
        /// The transaction stays open.
        case constraint

        func plant(with connection: SQLiteConnection) throws {
            switch self {
            case .hook: sqlite3_commit_hook(connection.handle, { _ in 1 }, nil)
            case .constraint:
                try connection.execute(
                    """
                    COMMIT; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;
                    CREATE TABLE parents(id INTEGER PRIMARY KEY);
                    CREATE TABLE children(id INTEGER REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED);
                    INSERT INTO children VALUES(1);
                    """)
            }
        }

        func remove(from connection: SQLiteConnection) { _ = sqlite3_commit_hook(connection.handle, nil, nil) }
    }

    private static func connection(of writer: any StorageWriter) throws -> SQLiteConnection {
        try #require(writer as? SQLiteWriter).connection
    }

    private static func record(_ id: DocumentID) throws -> DocumentRecord {
        var tree = RevisionTree()
        tree.insert(RevisionHistory(try RevisionID(validating: "1-a")), isDeleted: false)
        return DocumentRecord(id: id, sequence: 0, tree: tree, content: RevisionContent(body: .empty))
    }

    @Test(arguments: Fault.allCases)
    func `a commit that fails fails each of its writers, and the next one works`(fault: Fault) throws {
        let folder = try TemporaryFolder()
        let engine = try SQLiteStorage.file(folder.path("a.sqlite"))
        let queue = try #require(engine as? SQLiteEngine)
        defer { engine.close() }
        let (announced, acted) = (Log<UpdateSequence>(), Log<Int>())
        engine.onCommit { announced.add($0.sequence) }
        let (failures, acknowledged) = (Log<String>(), Log<Int>())
        let hasBegun = DispatchSemaphore(value: 0)
        let write: @Sendable (any StorageWriter, Int) throws -> Void = { writer, thread in
            _ = try writer.apply(.insert(Self.record(DocumentID(unchecked: "\(thread)"))))
            writer.afterCommit { acted.add(thread) }
        }
        onThreads(8) { thread in
            do {
                if thread == 0 {
                    try engine.hold { writer in
                        try fault.plant(with: Self.connection(of: writer))
                        try write(writer, thread)
                        for _ in 1..<8 { hasBegun.signal() }
                        // The others arrive while this one has its turn, and so they share its commit.
                        waitUntil("the others wait for their turns") { queue.waitingWrites == 7 }
                    }
                } else {
                    hasBegun.wait()
                    if thread % 2 == 0 {
                        try engine.commit { try write($0, thread) }
                    } else {
                        try engine.hold { try write($0, thread) }
                    }
                }
                acknowledged.add(thread)
            } catch { failures.add("\(error)") }
        }
        #expect(acknowledged.values == [] && failures.values.count == 8)
        #expect(acted.values == [] && announced.values == [])
        #expect(try engine.read { try $0.lastSequence } == 0)
        try engine.hold { fault.remove(from: try Self.connection(of: $0)) }
        onThreads(8) { thread in
            do { try engine.commit { try write($0, thread) } } catch { failures.add("\(error)") }
        }
        #expect(failures.values.count == 8 && acted.values.count == 8)
        #expect(try engine.read { try $0.count(.documents(DocumentRange())) } == 8)
        #expect(try #require(engine as? any MaintainedStorage).maintain(.check).problems == [])
    }
}
