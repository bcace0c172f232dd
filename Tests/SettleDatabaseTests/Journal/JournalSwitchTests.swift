import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

struct JournalSwitchTests {
    private func options(_ journal: Bool?) -> DatabaseOptions {
        var options = DatabaseOptions()
        options.journal = journal
        return options
    }

    @Test func `there is no journal unless it is switched on`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.add("a")
            #expect(database.journal == nil)
        }
    }

    @Test func `a storage that keeps no journal refuses a database whose setting says that there is one`() throws {
        let store = try SharedStore()
        try store.engine().commit { try $0.setSetting(Database.journalSetting, to: "on") }
        let error = #expect(throws: DatabaseError.self) { try store.node() }
        #expect(error?.code == .invalid)
    }

    @Test func `the file remembers the switch, and operations made while it was off are not recorded`() throws {
        let folder = try TemporaryFolder()
        func open(_ journal: Bool?, _ body: (Database) throws -> Void) throws {
            let database = try Database.openOrCreate(folder("a.settle"), options: options(journal))
            defer { database.close() }
            try body(database)
        }
        try open(nil) { try $0.add("before") }
        try open(true) { database in
            #expect(database.journal?.isEmpty == true)
            try database.set("before", "v", 2)
        }
        try open(nil) { database in
            let time = try database.journal?.pending.first?.time.milliseconds ?? 0
            #expect(try database.pendingLines == ["UPDATE before v=2@\(time)"])
        }
        try open(false) { database in
            #expect(database.journal == nil)
            try database.set("before", "v", 3)
        }
        try open(nil) { #expect($0.journal == nil) }
        try open(true) { #expect($0.journal?.isEmpty == true) }
    }

    @Test func `times come from the system clock unless given`() throws {
        try withTemporaryDatabase(.plain, options: options(true)) { database in
            try database.add("a")
            let time = try #require(try database.journal?.pending.first?.time)
            #expect(time.milliseconds > 1_700_000_000_000)
        }
    }

    @Test func `it is switched while the database is open, and writers go on`() async throws {
        let folder = try TemporaryFolder()
        let database = try Database.openOrCreate(folder("a.settle"))
        try database.add("a", ["n": 0])
        #expect(database.journal == nil)
        try database.setJournal(true)
        try database.setJournal(true)
        try database.set("a", "n", 1)
        #expect(try database.historyLines() == [#"UPDATE a {"n":0} {"n":1}"#])
        let journal = try #require(database.journal)
        let watched = Task { for try await _ in journal.observePending() {} }
        await withTaskGroup { group in
            for name in 0..<4 {
                group.addTask {
                    for n in 0..<50 { _ = try? database.add(DocumentID(unchecked: "\(name) \(n)"), ["n": 0]) }
                }
            }
            group.addTask { for n in 0..<20 { try? database.setJournal(n % 2 == 0) } }
            group.addTask { for n in 0..<20 { try? database.setJournal(n % 2 == 1) } }
        }
        #expect(try database.info().documents.live == 201)
        try database.setJournal(true)
        #expect(try database.journal?.history().count == database.journal?.count)
        try database.setJournal(false)
        #expect(database.journal == nil)
        try await watched.value
        database.close()
        #expect(try Database.openOrCreate(folder("a.settle")).journal == nil)
    }
}
