import Settle
import Testing

@testable import CrashTool

/// The crash test itself can fail: what it is there to notice, it notices.
@Suite struct CrashCheckerTests {
    let database: Database

    init() throws { database = try Database.inMemory() }

    private func problems(_ journal: String) throws -> [String] {
        var ledger = Ledger()
        ledger.read(journal)
        var checker = Checker(database)
        try checker.check(&ledger)
        return checker.problems
    }

    @Test(arguments: [
        "S d-0-1 1-a\n", "R d-0-1 1-a\n", "G g-0-0 3 1\n", "L _local/l-0 1\n", "! it broke\n", "nonsense\n",
        "P d-0-1\nS d-0-1 1-a\n", "p d-0-1\nP d-0-1\nS d-0-1 1-a\nS d-0-1 2-a\n",
    ])
    func `what is owed by an empty database is missed`(journal: String) throws {
        #expect(try !problems(journal).isEmpty)
    }

    @Test(arguments: [
        "", "C\n", "ready\n", "P d-0-1\n", "S d-0-1 1-a\np d-0-1\n", "S d-0-1 1-a\np d-0-1\nP d-0-1\n", "S d-0-1 1-",
    ])
    func `an empty database that owes nothing is fine`(journal: String) throws {
        #expect(try problems(journal) == [])
    }

    @Test func `a revision that is not there, of another nature, or purged is noticed`() throws {
        let saved = try database.save(Document(id: "d-0-1"), onConflict: .fail)
        let revision = try #require(saved.revision)
        #expect(try problems("S d-0-1 \(revision)\n") == [])
        #expect(try problems("S d-0-1 \(revision)\np d-0-1\n") == [])
        #expect(try problems("S d-0-1 2-a\n").count == 1)
        #expect(try problems("D d-0-1 \(revision)\n").count == 1)
        #expect(try problems("S d-0-1 \(revision)\np d-0-1\nP d-0-1\n").count == 1)
    }

    @Test func `a group in part, or with older stamps, is noticed`() throws {
        for index in 0..<2 {
            try database.save(
                Document(id: DocumentID(validating: "g-0-0-\(index)"), body: ["stamp": 1]), onConflict: .fail)
        }
        #expect(try problems("").count == 1)
        try database.save(Document(id: "g-0-0-2", body: ["stamp": 2]), onConflict: .fail)
        #expect(try problems("").count == 1)
        for index in 0..<3 {
            try database.save(
                Document(id: DocumentID(validating: "g-0-0-\(index)"), body: ["stamp": 3]), onConflict: .lastWriteWins)
        }
        #expect(try problems("G g-0-0 3 3\n") == [])
        #expect(try problems("G g-0-0 3 4\n").count == 1)
    }

    @Test func `what was undone and is there is noticed`() throws {
        try database.save(Document(id: "ghost-0"), onConflict: .fail)
        #expect(try problems("").count == 1)
    }

    @Test func `a content that is another one is noticed`() throws {
        var document = Document(id: "d-0-1")
        document.attach(
            try database.makeAttachment("photo", content: AttachmentContent(seed: 5, length: 100).bytes))
        let saved = try database.save(document, onConflict: .fail)
        let revision = try #require(saved.revision)
        #expect(try problems("A d-0-1 \(revision) photo 5 100\n") == [])
        #expect(try problems("A d-0-1 \(revision) photo 6 100\n").count == 1)
        #expect(try problems("A d-0-1 \(revision) letter 5 100\n").count == 1)
    }
}
