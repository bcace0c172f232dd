import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// What is reported, and what is measured.
@Suite struct SettleLogTests {
    private let entries = Log<SettleLog.Entry>()

    private func options(from level: SettleLog.Level) -> DatabaseOptions {
        var options = DatabaseOptions()
        options.log = SettleLog(from: level) { [entries] in entries.add($0) }
        return options
    }

    @Test(arguments: SettleLog.Level.allCases)
    func `a handler gets entries of its level and above`(level: SettleLog.Level) {
        let log = options(from: level).log
        for level in SettleLog.Level.allCases { log(level, .query, "x", ["a": "b"]) }
        #expect(entries.values.map(\.level) == SettleLog.Level.allCases.filter { $0 >= level })
        #expect(entries.values.last?.description == "error query: x [a: b]")
    }

    @Test func `a message that no handler takes is not made`() {
        var isMade = false
        func message() -> String {
            isMade = true
            return "x"
        }
        SettleLog.none(.warning, .database, message())
        SettleLog.standardError(.notice, .database, message())
        #expect(!isMade)
    }

    @Test func `an open database and what it warns of are entries with its name`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("notes.settle"), options: options(from: .debug))
        database.warn("the index is old", in: .query)
        #expect(
            entries.values.map(\.description) == [
                "info database: the database is open [database: notes.settle]",
                "warning query: the index is old [database: notes.settle]",
            ])
    }

    @Test func `credentials in addresses are in no entry`() {
        let log = options(from: .debug).log
        log(
            .info, .replication, "to https://anna:secret@example.com/notes, and wss://bob:p%40ss%2Fw@host",
            ["source": "http://anna:secret@localhost:5984/notes"])
        #expect(entries.values.count == 1)
        #expect(!entries.values[0].description.contains("secret") && !entries.values[0].description.contains("p%40ss"))
        #expect(entries.values[0].description.contains("@example.com/notes"))
    }

    @Test func `the warnings alone are given as texts`() throws {
        let texts = Log<String>()
        var options = DatabaseOptions()
        options.warn = { texts.add($0) }
        let database = try Database.inMemory(options: options)
        database.warn("one")
        options.warn("two")
        #expect(texts.values == ["one", "two"])
    }

    @Test func `opening, writing and querying are measured, each from its beginning to its end`() async throws {
        let events = Log<String>()
        var options = options(from: .debug)
        options.log = options.log.and(
            SettleLog(
                measuring: { interval in
                    events.add("\(interval) begins")
                    return { events.add("\(interval) ends \($0["database"] ?? "")") }
                },
                { _ in }))
        let folder = try TemporaryFolder()
        try Database.create(folder("a.settle")).close()
        let database = try Database.open(folder("a.settle"), options: options)
        #expect(events.take() == ["open begins", "open ends a.settle"])
        try database.save(Document(id: "a"), onConflict: .fail)
        #expect(events.take() == ["write begins", "write ends a.settle"])
        let findNow = { try database.find(DocumentQuery<JSONValue>(MangoSelector([:]))).rows.count }
        #expect(try findNow() == 1)
        #expect(events.take() == ["query begins", "query ends a.settle"])
        struct Stop: Error {}
        #expect(throws: Stop.self) { try database.transaction { throw Stop() } }
        #expect(events.take() == ["write begins", "write ends a.settle"])
        let found = try await database.find(DocumentQuery<JSONValue>(MangoSelector([:])))
        #expect(found.rows.count == 1)
        #expect(events.take() == ["query begins", "query ends a.settle"])
        #expect(entries.values.map(\.message) == ["the database is open"])
    }
}
