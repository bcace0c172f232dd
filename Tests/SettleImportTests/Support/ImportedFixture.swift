import Foundation
import Settle
import SettleCore

@testable import SettleImport

/// A database or dump of another product beside the repository, and where the values are that an import of it must have.
struct ImportedFixture: CustomStringConvertible, Sendable {
    enum Truth: Sendable {
        /// A file with the revisions of each document.
        case revisions(String)
        /// A file with a product's own answers.
        case answers(String)
        /// A file with the collections of Couchbase Lite.
        case collections(String)
        /// The dump itself; its folder has a file with the lines that are broken.
        case text
        /// The bodies.
        case bodies([String: JSONValue])
    }

    let path: String
    let truth: Truth
    var kind: ForeignDatabase.Kind?
    var collection = defaultCollection
    /// Local documents of which the file of values says nothing that is JSON.
    var locals: [String: JSONValue] = [:]
    /// The documents and their leaves, where the file of values has only some of them.
    var counts: (live: Int, deleted: Int)?

    var description: String { collection == defaultCollection ? path : "\(path) \(collection)" }
    var url: URL { FixtureFiles.url(path) }

    /// Imports the fixture.
    @discardableResult
    func load(into database: Database) throws -> ImportReport {
        let source = try ForeignDatabase(at: url, kind: kind)
        return try database.importAll(from: source, options: ImportOptions(collection: collection))
    }

    /// What an import of it must have.
    func expected() throws -> ExpectedDocuments {
        var expected =
            switch truth {
            case .revisions(let file): try ExpectedDocuments(revisions: FixtureFiles.json(file + ".expected.json"))
            case .answers(let file): try ExpectedDocuments(answers: FixtureFiles.json(file))
            case .collections(let file):
                try ExpectedDocuments(
                    collection: FixtureFiles.json(file + ".expected.json")["collections"]?[shortCollection] ?? .null)
            case .text: try ExpectedDocuments(dumps: files(), lost: brokenLines())
            case .bodies(let bodies): ExpectedDocuments(bodies: bodies)
            }
        for (id, body) in locals { expected.add(local: id, body) }
        return expected
    }

    /// The name of the collection without the default scope.
    private var shortCollection: String {
        collection.hasPrefix("_default.") ? String(collection.dropFirst(9)) : collection
    }

    private func files() throws -> [URL] { try FixtureFiles.files(in: url) }

    private func brokenLines() throws -> Int {
        guard let folder = path.split(separator: "/").first, kind == nil, try files().count == 1 else { return 0 }
        let file = "\(folder)/dumps.expected.json"
        guard FixtureFiles.has(file) else { return 0 }
        let name = String(path.dropFirst(folder.count + 1))
        return try FixtureFiles.json(file)[name]?["badLines"]?.array?.count ?? 0
    }
}

// MARK: - List

extension ImportedFixture {
    /// Every file that can be imported.
    static let all: [ImportedFixture] =
        couchbaseLite1 + cloudant + couchbaseLite + pouchDB + couchFiles + dumps + tables

    private static let couchbaseLite1: [ImportedFixture] =
        [
            ("ios104", "ios104/iosdb.cblite"), ("ios110", "ios110/iosdb.cblite"), ("ios120", "ios120/iosdb.cblite2"),
            ("ios130", "ios130/iosdb.cblite2"), ("ios140", "ios140"), ("android104", "android104"),
            ("android110", "android110"), ("android120", "android120/androiddb.cblite2"),
            ("android130", "android130/androiddb.cblite2/db.sqlite3"),
        ].map { ImportedFixture(path: "cbl1/\($1)", truth: .revisions("cbl1/\($0)")) } + [
            ImportedFixture(path: "cbl1-made/edge.cblite2", truth: .revisions("cbl1-made/edge"))
        ]

    private static let cloudant: [ImportedFixture] =
        ["schema100_1Bonsai_2Lorem", "schema6to7upgrade"]
        .map { ImportedFixture(path: "cdt/\($0).touchdb", truth: .revisions("cdt/\($0)")) } + [
            ImportedFixture(
                path: "sync-android/datastores-user_version6/datastores",
                truth: .revisions("sync-android/datastores-user_version6")),
            ImportedFixture(
                path: "sync-android/legacy_database_with_indexes/AbstractQueryTestBase",
                truth: .revisions("sync-android/legacy_database_with_indexes")),
            ImportedFixture(
                path: "sync-android/v100WithDuplicates/datastores/v100DBWithDuplicates",
                truth: .revisions("sync-android/v100WithDuplicates"), counts: (141, 505)),
        ]

    private static let couchbaseLite: [ImportedFixture] = ["tree", "tree-with-wal", "vv"].flatMap { name in
        [defaultCollection, "Shop.Orders", "_default.notes"].map { collection in
            ImportedFixture(
                path: "cblite2-made/\(name).cblite2", truth: .collections("cblite2-made/\(name)"),
                collection: collection)
        }
    }

    private static let pouchDB: [ImportedFixture] =
        ["pouchdb-leveldb/lateStyle", "pouchdb-leveldb/laterStyle", "pouchdb-leveldb/middleStyle"]
        .map { ImportedFixture(path: $0, truth: .revisions($0)) } + [
            ImportedFixture(path: "pouchdb-leveldb-made/log", truth: .revisions("pouchdb-leveldb-made/log")),
            ImportedFixture(
                path: "pouchdb-leveldb-made/log", truth: .answers("pouchdb-leveldb-made/truth_open_revs.json"),
                locals: mine),
            ImportedFixture(
                path: "pouchdb-websql-made/_pouch_fix",
                truth: .answers("pouchdb-leveldb-made/truth_open_revs.json"), locals: mine),
            // What the function of the article FromPouchDB wrote.
            ImportedFixture(
                path: "pouchdb-leveldb-made/dump-by-guide.jsonl",
                truth: .answers("pouchdb-leveldb-made/truth_open_revs.json"), locals: mine),
        ]

    private static let mine: [String: JSONValue] = ["_local/mine": ["cursor": 17]]

    private static let couchFiles: [ImportedFixture] =
        CouchFileFixtureTests.files.map { file in
            ImportedFixture(
                path: file + ".couch", truth: .revisions(file), locals: file.hasPrefix("couchdb-3.5") ? mine : [:])
        } + [
            ImportedFixture(
                path: "couchdb-3.5/filesfix.couch", truth: .answers("couchdb-3.5/truth_open_revs.json"), locals: mine)
        ]

    private static let dumps: [ImportedFixture] =
        [
            "couchdb-3.5/all_docs.json", "couchdb-3.5/all_docs_conflicts_attachments.json",
            "couchdb-3.5/changes_continuous.txt", "couchdb-3.5/changes_normal.json", "couchdb-3.5/find.json",
            "couchdb-3.5/local_docs.json", "pouchdb-dump/bloggr.txt", "pouchdb-dump/bloggr2.txt",
            "pouchdb-dump/bloggr-split", "pouchdb-dump/foobar.txt", "couchbackup/animaldb_all_docs_1.json",
            "couchbackup/animaldb_all_docs_2.json", "couchbackup/animaldb_all_docs_3.json",
            "couchbackup/animaldb_all_docs_4.json", "couchbackup/animaldb_corrupted.json",
            "couchbackup/animaldb_corrupted_resume.json", "couchbackup/animaldb_expected.json",
            "couchbackup/animaldb_expected.json.gz", "couchbackup/animaldb_expected_shallow.json",
            "couchbackup/animaldb_old_shallow.json", "couchbackup/animaldb_resumed_blank.json",
            "couchbackup/attachment.backup",
        ].map { ImportedFixture(path: $0, truth: .text) } + [
            ImportedFixture(path: "couchbackup/animaldb_corrupted_old.json", truth: .text, kind: .couchbackup)
        ]

    /// Tables, and dumps whose values are written in another way here.
    private static let tables: [ImportedFixture] = [
        ImportedFixture(
            path: "csv-made/cr-only.csv", truth: .bodies(["1": ["name": "Milk"], "2": ["name": "Bread"]])),
        ImportedFixture(path: "csv-made/tab.tsv", truth: .bodies(["1": ["name": "Milk"], "2": ["name": "Bread"]])),
        ImportedFixture(
            path: "csv-made/leading-zeros.csv",
            truth: .bodies(["1": ["zip": "00501"], "2": ["zip": "10001"], "3": ["zip": "TRUE"]])),
        ImportedFixture(path: "csv-made/utf16le-bom.csv", truth: .bodies(["1": ["name": "Müller"]])),
        ImportedFixture(
            path: "mongo-made/relaxed-v2.json",
            truth: .bodies([
                "5f1a2b3c4d5e6f7081920304": [
                    "i": 7, "l": 9_007_199_254_740_993, "when": "2018-11-30T12:05:05.000Z",
                ],
                "5f1a2b3c4d5e6f7081920305": ["old": "0000-12-31T23:59:59.999Z"],
            ])),
        ImportedFixture(
            path: "mongo-made/canonical-v2.jsonl",
            truth: .bodies([
                "5f1a2b3c4d5e6f7081920304": canonical, "a text id": ["v": 1], "42": ["v": 2],
                #"{"a":1,"b":"x"}"#: ["v": 3],
            ])),
        ImportedFixture(
            path: "firestore-made/node-firestore-import-export.json",
            truth: .bodies([
                "users/ada": [
                    "name": "Ada", "since": "2018-11-30T12:05:05.500Z", "at": ["latitude": 49.2, "longitude": 16.6],
                    "boss": "users/bob",
                ],
                "users/ada/notes/n1": ["text": "a subcollection"], "users/bob": ["name": "Bob"],
                "products/a/b": ["odd": "id"],
            ])),
    ]

    private static let canonical: JSONValue = [
        "i": 7, "l": 9_007_199_254_740_993, "d": 1.5, "inf": "Infinity", "dec": "12.30",
        "when": "2018-11-30T12:05:05.000Z", "bin": "AAEC", "u": "c8edabc3-f738-4ca3-b68d-ab92a91478a3",
        "re": ["$regularExpression": ["pattern": "^a", "options": "i"]],
        "ts": ["$timestamp": ["t": 1_543_579_505, "i": 1]], "min": ["$minKey": 1], "undef": ["$undefined": true],
        "ref": ["$ref": "users", "$id": "5f1a2b3c4d5e6f7081920305"], "n": nil, "s": "text", "dollar": ["$price": 3],
        "dot.ted": 1,
    ]
}
