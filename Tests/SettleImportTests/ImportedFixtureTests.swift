import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

@testable import SettleImport

/// Every file of another product becomes a database with the documents that another program saw in the file.
@Suite(.enabled(if: FixtureFiles.areThere)) struct ImportedFixtureTests {
    @Test(arguments: ImportedFixture.all)
    func `a database has every leaf, body, attachment and local document of the file`(fixture: ImportedFixture) throws {
        let before = try FixtureFiles.state(of: fixture.url)
        try withTemporaryDatabase(.file) { database in
            let report = try fixture.load(into: database)
            try fixture.expected().compare(with: database, report)
            let counts = try database.info().documents
            if let known = fixture.counts {
                #expect(counts.live == known.live && counts.deleted == known.deleted)
            }
        }
        #expect(try FixtureFiles.state(of: fixture.url) == before)
    }

    @Test(arguments: ImportedFixture.all)
    func `a second import writes nothing and makes no conflict`(fixture: ImportedFixture) throws {
        let database = try Database.inMemory()
        let first = try fixture.load(into: database)
        let (before, locals) = (try database.info(), try database.localDocuments())
        let again = try fixture.load(into: database)
        let after = try database.info()
        #expect(again.known == again.leaves && again.leaves == first.leaves, "\(again)")
        #expect(again.lostRevisions == first.lostRevisions && again.lostAttachments == first.lostAttachments)
        #expect(after.lastSequence == before.lastSequence && after.documents == before.documents)
        #expect(after.conflicts == before.conflicts)
        #expect(try database.localDocuments() == locals)
    }

    @Test(arguments: [
        ("cbl1/ios130-forestdb/iosdb.cblite2", "ForestDB"), ("cdt/emptyencrypteddb.touchdb", "encrypted"),
        ("pouchdb-leveldb/oldStyle", "PouchDB 2"), ("pouchdb-dump/malformed.txt", "malformed.txt"),
        ("pouchdb-leveldb", "give the folder of one"), ("couchdb-3.5", "filesfix.couch"),
    ])
    func `what can't be imported is refused by its name`(path: String, words: String) throws {
        let error = try #require(throws: ForeignFileError.self) { try ForeignDatabase(at: FixtureFiles.url(path)) }
        #expect(error.message.contains(words), "\(error.message)")
    }
}
