import Foundation
import Settle
import SettleDatabase
import Testing

@testable import SettleImport

/// A look at a file that also checks its structure and the contents of its attachments.
struct FileCheckTests {
    private let made: MadeDatabase
    private let scratch: Database

    init() throws {
        made = try MadeDatabase()
        scratch = try Database.inMemory()
    }

    private func inspect(_ url: URL, verifies: Bool) throws -> ImportReport {
        try ForeignDatabase(at: url).inspect(ImportOptions(), verifies: verifies, scratch: scratch) { _ in }
    }

    private static let rows = [
        MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", #"{"v":1}"#), "CREATE TABLE people(name TEXT)",
        "INSERT INTO people VALUES('a page that no document is on')",
    ]

    @Test func `a damaged page that no document needs is found by the check alone`() throws {
        let url = try made.sqlite("a.cblite", version: 102, MadeDatabase.schemaOf1 + Self.rows)
        let whole = try inspect(url, verifies: true)
        #expect(whole.isWhole && whole.documents == 1, "\(whole)")
        try MadeDatabase.damagePage(of: url, with: "a page that no document is on")
        let quick = try inspect(url, verifies: false)
        #expect(quick.isWhole && quick.documents == 1, "\(quick)")
        let checked = try inspect(url, verifies: true)
        #expect(!checked.isWhole && checked.lostRevisions == 1 && checked.documents == 1, "\(checked)")
        let fault = try #require(checked.notTaken.first)
        #expect(fault.id == nil && fault.message.contains("a.cblite"), "\(fault)")
        #expect(checked.json["not_taken"]?[0]?["message"]?.string?.isEmpty == false)
    }

    @Test func `a check names the damage at which documents can't be read on, and counts those before it`() throws {
        let url = try made.sqlite(
            "c.cblite", version: 102,
            MadeDatabase.schemaOf1 + [MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", #"{"v":"the page"}"#)])
        try MadeDatabase.damagePage(of: url, with: "the page")
        #expect(throws: ForeignFileError.self) { try inspect(url, verifies: false) }
        let checked = try inspect(url, verifies: true)
        #expect(!checked.isWhole && checked.documents == 0, "\(checked)")
        #expect(checked.notTaken.allSatisfy { $0.id == nil && $0.message.contains("c.cblite") }, "\(checked)")
        // Of a content that is damaged, the document and the attachment are named.
        let reader = ListReader()
        let bad = ListReader.attachment("photo", [1, 2], digest: .md5(Array(repeating: 7, count: 16)))
        reader.documents = [
            ForeignDocument(id: "d", sequence: 1, leaves: [try ListReader.leaf("d", "1-d", attachments: [bad])])
        ]
        let report = try reader.database.inspect(ImportOptions(), verifies: true, scratch: scratch) { _ in }
        #expect(report.description.contains("d 1-d \"photo\": the content has another digest"), "\(report)")
    }

    @Test func `an attachment with another content is found by the check alone`() throws {
        let json = #"{"_attachments":{"t":{"digest":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=","length":4,"revpos":1}}}"#
        let url = try made.sqlite(
            "b.cblite2/db.sqlite3", version: 102,
            MadeDatabase.schemaOf1 + [MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", json)])
        // The name is the digest of no bytes.
        try made.file(
            "b.cblite2/attachments/DA39A3EE5E6B4B0D3255BFEF95601890AFD80709.blob", Array("text".utf8))
        #expect(try inspect(url, verifies: false).isWhole)
        let checked = try inspect(url, verifies: true)
        #expect(checked.lostAttachments == 1 && checked.lostRevisions == 0, "\(checked)")
        #expect(checked.notTaken.first?.message.contains("another digest") == true)
    }
}
