import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Read connections of a database that is closed while one of them is being opened.
@Suite struct ReaderPoolTests {
    /// A pool that is closed concurrently with opening a connection.
    private func pool(_ open: @escaping @Sendable () throws -> SQLiteReader) -> ReaderPool {
        let own = Guarded<ReaderPool?>(nil)
        let pool = ReaderPool(limit: 1) {
            own.withLock { $0 }?.close()
            own.withLock { $0 = nil }
            return try open()
        }
        own.withLock { $0 = pool }
        return pool
    }

    @Test func `a file missing because the database was closed and deleted is not a system failure`() {
        let pool = pool { throw DatabaseError(.inputOutput, "unable to open database file") }
        #expect(code { try pool.read { _ in } } == .closed)
    }

    @Test func `a connection to a database created in the same place meanwhile is not lent`() throws {
        try withTemporaryDatabase(.file) { database in
            let path = (database.path ?? "") + "/database.sqlite"
            let pool = pool { try SQLiteReader(SQLiteConnection(path: path)) }
            #expect(code { try pool.read { _ in } } == .closed)
        }
    }

    @Test func `a system failure is passed on`() {
        let pool = ReaderPool(limit: 1) { throw DatabaseError(.inputOutput, "unable to open database file") }
        #expect(code { try pool.read { _ in } } == .inputOutput)
    }

    @Test func `a connection whose snapshot could not be ended is closed`() throws {
        try withTemporaryDatabase(.file) { database in
            let path = (database.path ?? "") + "/database.sqlite"
            let pool = ReaderPool(limit: 1) { try SQLiteReader(SQLiteConnection(path: path, readOnly: true)) }
            let before = try pool.read { reader in
                // There is no transaction yet, and so nothing to commit.
                reader.endSnapshot()
                try reader.connection.execute("BEGIN")
                return try reader.lastSequence
            }
            #expect(before == 0)
            try database.add("a")
            #expect(try pool.read { try $0.lastSequence } == 1)
        }
    }
}
