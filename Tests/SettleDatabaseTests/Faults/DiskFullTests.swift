import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// A database file that may not grow: SQLite reports a full disk, and rolls back the transaction.
@Suite struct DiskFullTests {
    private struct GaveUp: Error {}
    let folder: TemporaryFolder
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = try Database.create(folder.path("a"))
        try database.save(Document(id: "milk", body: ["count": 1]), onConflict: .fail)
    }

    /// Sets how many pages the file may have; too few for any growth with 1.
    private func setMaximumPageCount(_ count: Int) throws {
        try database.engine.hold { writer in
            try (writer as? SQLiteWriter)?.connection.execute("PRAGMA max_page_count = \(count)")
        }
    }

    private func large(_ id: DocumentID) -> Document {
        Document(id: id, body: ["text": .string(String(repeating: "x", count: 50_000))])
    }

    private func expectUsable(_ ids: Set<String>) throws {
        #expect(Set(try database.documents().map(\.id.string)) == ids)
        #expect(try database.verify().problems == [])
        try setMaximumPageCount(1_000_000)
        try database.save(large("with room"), onConflict: .fail)
        #expect(try database.document("with room") != nil)
        // After a crash, the content of the log counts.
        try folder.copy("a", to: "b")
        let left = try Database.open(folder.path("b"))
        #expect(Set(try left.documents().map(\.id.string)) == ids.union(["with room"]))
        #expect(try left.verify().problems == [])
    }

    @Test func `a write without space throws, and acknowledged writes stay`() throws {
        try setMaximumPageCount(1)
        for id in ["one", "two"] {
            let error = #expect(throws: DatabaseError.self) {
                try database.save(large(DocumentID(validating: id)), onConflict: .fail)
            }
            #expect(error?.code == .diskFull)
        }
        #expect(try database.document("milk")?["count"] == 1)
        try expectUsable(["milk"])
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func `a disk, or a user's share of it, that is full is the same error from SQLite and from the system`(
        number: Int32
    ) {
        // SQLite reports a full disk itself, and a user's share as an error of writing (SQLITE_IOERR_WRITE).
        let written: Int32 = 778
        #expect(SQLiteError.make(written, "disk I/O error", system: number, "writing").code == .diskFull)
        #expect(SQLiteError.make(written, "disk I/O error", system: EIO, "writing").code == .inputOutput)
        #expect(systemError("writing", number).code == .diskFull)
    }

    @Test func `a small write that needs no space succeeds`() throws {
        try setMaximumPageCount(1)
        #expect(throws: DatabaseError.self) { try database.save(large("one"), onConflict: .fail) }
        var milk = try #require(try database.document("milk"))
        milk["count"] = 2
        try database.save(milk, onConflict: .fail)
        #expect(try database.document("milk")?["count"] == 2)
        try expectUsable(["milk"])
    }

    @Test func `a transaction that ignores the error is not committed in part`() throws {
        try setMaximumPageCount(1)
        let error = #expect(throws: DatabaseError.self) {
            try database.transaction {
                try database.save(Document(id: "before"), onConflict: .fail)
                _ = try? database.save(large("no room"), onConflict: .fail)
                _ = try? database.save(Document(id: "after"), onConflict: .fail)
            }
        }
        #expect(error?.code == .diskFull)
        try expectUsable(["milk"])
    }

    @Test func `a batch of saves without space is not stored in part`() throws {
        try setMaximumPageCount(1)
        #expect(throws: DatabaseError.self) {
            try database.saveAll([Document(id: "small"), large("no room"), Document(id: "last")], onConflict: .fail)
        }
        try expectUsable(["milk"])
    }

    /// Several threads write at once and share commits, and one of them has no room. Each write that was reported as
    /// failed has failed, and each that was reported as successful has succeeded.
    @Test func `each writer of a shared commit gets the outcome of its own write`() throws {
        let pages = try database.engine.read { reader in
            try (reader as? SQLiteReader)?.connection.integer("PRAGMA page_count") ?? 0
        }
        for round in 0..<20 {
            try setMaximumPageCount(Int(pages) + 4)
            let succeeded = Names()
            DispatchQueue.concurrentPerform(iterations: 12) { index in
                let id = "\(round)-\(index)"
                let document =
                    index % 3 == 0
                    ? large(DocumentID(unchecked: "no room \(id)")) : Document(id: DocumentID(unchecked: "small \(id)"))
                do {
                    try database.save(document, onConflict: .fail)
                    succeeded.add(document.id.string)
                } catch let error as DatabaseError where error.code == .diskFull {
                } catch { Issue.record(error) }
            }
            let stored = Set(try database.documents().map(\.id.string)).subtracting(["milk"])
            #expect(stored == succeeded.all)
            try setMaximumPageCount(1_000_000)
            for id in stored { try database.purge(DocumentID(validating: id)) }
        }
        try expectUsable(["milk"])
    }

    @Test func `an error thrown by one caller does not undo the other writes of a shared commit`() throws {
        let succeeded = Names()
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            let id = DocumentID(unchecked: "d\(index)")
            do {
                try database.transaction {
                    try database.save(Document(id: id), onConflict: .fail)
                    if index % 4 == 0 { throw GaveUp() }
                }
                succeeded.add(id.string)
            } catch is GaveUp {} catch { Issue.record(error) }
        }
        #expect(Set(try database.documents().map(\.id.string)) == succeeded.all.union(["milk"]))
        #expect(succeeded.all.count == 30)
    }
}
