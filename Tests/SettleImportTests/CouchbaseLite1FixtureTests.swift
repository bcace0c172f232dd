import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// Files of Couchbase Lite 1.x, CDTDatastore and sync-android, compared with what another reader saw in them.
@Suite(.enabled(if: FixtureFiles.has("cbl1"))) struct CouchbaseLite1FixtureTests {
    /// A file with numbers that are known.
    struct Fixture: CustomStringConvertible, Sendable {
        let folder: String
        let path: String
        let expected: String
        let documents: Int
        let leaves: Int
        let attachments: Int
        /// Leaves that can't be read, and contents that are missing.
        let lost: Int

        init(
            _ folder: String, _ path: String, _ expected: String, documents: Int, leaves: Int, attachments: Int,
            lost: Int = 0
        ) {
            (self.folder, self.path, self.expected) = (
                folder, "\(folder)/\(path)", "\(folder)/\(expected).expected.json"
            )
            (self.documents, self.leaves, self.attachments, self.lost) = (documents, leaves, attachments, lost)
        }

        var description: String { path }
        var url: URL { FixtureFiles.url(path) }
    }

    static let fixtures = [
        Fixture("cbl1", "ios104/iosdb.cblite", "ios104", documents: 1, leaves: 1, attachments: 2),
        Fixture("cbl1", "ios110/iosdb.cblite", "ios110", documents: 1, leaves: 1, attachments: 2),
        Fixture("cbl1", "ios120/iosdb.cblite2", "ios120", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1", "ios130/iosdb.cblite2", "ios130", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1", "ios140", "ios140", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1", "android104", "android104", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1", "android110", "android110", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1", "android120/androiddb.cblite2", "android120", documents: 2, leaves: 2, attachments: 2),
        Fixture(
            "cbl1", "android130/androiddb.cblite2/db.sqlite3", "android130", documents: 2, leaves: 2, attachments: 2),
        Fixture("cbl1-made", "edge.cblite2", "edge", documents: 9, leaves: 10, attachments: 3, lost: 2),
        Fixture(
            "cdt", "schema100_1Bonsai_2Lorem.touchdb", "schema100_1Bonsai_2Lorem", documents: 1, leaves: 1,
            attachments: 3,
            lost: 3),
        Fixture("cdt", "schema6to7upgrade.touchdb", "schema6to7upgrade", documents: 100, leaves: 100, attachments: 0),
        Fixture(
            "sync-android", "datastores-user_version6/datastores", "datastores-user_version6", documents: 1, leaves: 1,
            attachments: 2),
        Fixture(
            "sync-android", "legacy_database_with_indexes/AbstractQueryTestBase", "legacy_database_with_indexes",
            documents: 6, leaves: 6, attachments: 0),
    ]

    @Test(arguments: fixtures) func `every revision, body and attachment is read`(fixture: Fixture) throws {
        let before = try FixtureFiles.state(of: FixtureFiles.url(fixture.folder))
        do {
            let reader = try #require(try ForeignSQLite.reader(at: fixture.url))
            let expected = try FixtureFiles.json(fixture.expected)
            let documents = try reader.documents()
            #expect(try reader.count(in: defaultCollection) == documents.count)
            #expect(documents.map(\.sequence) == documents.map(\.sequence).sorted())
            let shown = try #require(expected["docs"]?.object)
            for member in shown {
                let document = try #require(documents.first { $0.id.string == member.name }, "\(member.name)")
                try compare(document, member.value.array ?? [], reader)
            }
            #expect(documents.count == fixture.documents && shown.count == fixture.documents)
            #expect(documents.map(\.leaves.count).reduce(0, +) == fixture.leaves)
            let attachments = documents.flatMap(\.leaves).flatMap(\.attachments)
            #expect(attachments.count == fixture.attachments)
            let missing = try attachments.filter { try reader.isWhole($0) == nil }.count
            #expect(documents.flatMap(\.faults).count + missing == fixture.lost)
            try compareLocals(reader, expected)
            for entry in expected["expiry"]?.array ?? [] {
                let document = documents.first { $0.id.string == entry[0]?.string }
                #expect(document?.expiration?.timeIntervalSince1970 == entry[1]?.double)
            }
            let uuid = expected["info"]?.array?.first { $0[0] == "privateUUID" }?[1]?.string
            #expect(reader.identity == uuid)
            #expect(reader.product.contains("user_version \(expected["user_version"]?.int ?? -1)"))
            try reader.check()
        }
        #expect(try FixtureFiles.state(of: FixtureFiles.url(fixture.folder)) == before)
    }

    private func compare(_ document: ForeignDocument, _ rows: [JSONValue], _ reader: any ForeignReader) throws {
        let parents = Dictionary(
            rows.map { ($0["rev"]?.string ?? "", $0["parent"]?.string) }, uniquingKeysWith: { first, _ in first })
        let leaves = rows.filter { $0["leaf"] == true }
        for row in leaves {
            let name = try #require(row["rev"]?.string)
            let isReadable = row["body"]?.string?.hasPrefix("BAD") != true
            guard isReadable else {
                #expect(document.leaf(name) == nil)
                #expect(document.faults.contains { $0.revision?.description == name })
                continue
            }
            let leaf = try #require(document.leaf(name), "\(document.id) \(name)")
            var (path, next) = ([name], parents[name] ?? nil)
            while let parent = next { (path, next) = (path + [parent], parents[parent] ?? nil) }
            #expect(leaf.history.revisions.map(\.description) == path)
            #expect(leaf.isDeleted == row["deleted"]?.bool)
            let members = (row["body"]?.object ?? [:]).filter { !$0.name.hasPrefix("_") }
            #expect(leaf.body.json.hasSameMeaning(as: .object(JSONObject(members.map { ($0.name, $0.value) }))))
            let attachments = row["attachments"]?.array ?? []
            #expect(Set(leaf.attachments.map(\.name)) == Set(attachments.compactMap { $0["name"]?.string }))
            for expected in attachments {
                let attachment = try #require(leaf.attachments.first { $0.name == expected["name"]?.string })
                #expect(attachment.contentType == expected["type"]?.string)
                #expect(Int(attachment.length) == expected["length"]?.int)
                #expect(Int(attachment.revpos) == expected["revpos"]?.int)
                #expect(attachment.isGzip == (expected["encoding"] == "gzip" || expected["encoding"] == 1))
                let key = expected["key"]?.string.flatMap { Hexadecimal.decode($0) }
                let digest = expected["digest"]?.string.flatMap { Base64.decode($0.dropFirst(5).utf8) }
                #expect(attachment.digest == (key ?? digest).map { .sha1($0) })
                if let count = expected["bytes"]?.int {
                    #expect(try reader.content(of: attachment).count == count)
                    #expect(try reader.isWhole(attachment) == true)
                } else {
                    #expect(try reader.isWhole(attachment) == nil)
                }
            }
        }
        #expect(document.sequence == rows.compactMap { $0["seq"]?.int }.max().map { UInt64($0) })
        #expect(document.shown == nil)
    }

    private func compareLocals(_ reader: any ForeignReader, _ expected: JSONValue) throws {
        let locals = try reader.localDocuments()
        let own = (expected["local"]?.array ?? []).filter { $0[0] != "_local/CBL_LocalCheckpoint" }
        #expect(locals.count == own.count)
        for entry in own {
            let id = try #require(entry[0]?.string)
            let body = try JSONValue(parsing: entry[2]?.string ?? "")
            #expect(locals[id]?.json.hasSameMeaning(as: body) == true)
        }
    }

    @Test func `rows that repeat a revision are one revision`() throws {
        let url = FixtureFiles.url("sync-android/v100WithDuplicates")
        let before = try FixtureFiles.state(of: url)
        do {
            let reader = try #require(
                try ForeignSQLite.reader(at: url.appending(path: "datastores/v100DBWithDuplicates")))
            let documents = try reader.documents()
            let leaves = documents.flatMap(\.leaves)
            #expect(documents.count == 646 && leaves.count == 646)
            #expect(leaves.filter { !$0.isDeleted }.count == 141 && leaves.filter(\.isDeleted).count == 505)
            #expect(documents.filter { !$0.faults.isEmpty }.isEmpty)
            #expect(leaves.filter { $0.isDeleted && !$0.isDeletionAtSource }.isEmpty)
            let attachments = leaves.flatMap(\.attachments)
            #expect(!attachments.isEmpty)
            #expect(try attachments.allSatisfy { try reader.isWhole($0) == true })
            // Its two local documents are checkpoints.
            #expect(try reader.localDocuments().isEmpty)
        }
        #expect(try FixtureFiles.state(of: url) == before)
    }

    @Test(arguments: [
        ("cbl1/ios140", ForeignDatabase.Kind.couchbase1), ("cdt/schema100_1Bonsai_2Lorem.touchdb", .cloudant),
        ("sync-android/legacy_database_with_indexes/AbstractQueryTestBase", .cloudant),
        ("cdt/schema6to7upgrade.touchdb", .couchbase1), ("cblite2-made/tree.cblite2", .cblite),
    ])
    func `a database is opened by its content, as its kind`(path: String, kind: ForeignDatabase.Kind) throws {
        let url = FixtureFiles.url(path)
        #expect(try ForeignDatabase(at: url).kind == kind)
        #expect(try ForeignDatabase(at: url, kind: kind).kind == kind)
        // An early file of CDTDatastore is like one of TouchDB.
        if path.contains("6to7") { #expect(try ForeignDatabase(at: url, kind: .cloudant).kind == .cloudant) }
    }

    @Test func `a later run goes on after a sequence`() throws {
        let reader = try #require(try ForeignSQLite.reader(at: Self.fixtures[11].url))
        let all = try reader.documents().map(\.sequence)
        let middle = all[all.count / 2]
        #expect(try reader.documents(after: middle).map(\.sequence) == all.filter { $0 > middle })
    }

    @Test func `a conflict has the base of its branches`() throws {
        let reader = try #require(try ForeignSQLite.reader(at: FixtureFiles.url("cbl1-made/edge.cblite2")))
        let document = try #require(try reader.documents().first { $0.id.string == "conflict" })
        // Its base's body is not in the file any more.
        #expect(document.leaves.count == 3 && document.bases.isEmpty)
    }
}
