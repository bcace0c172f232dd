import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// Databases of Couchbase Lite 2 to 4, made here row by row.
@Suite struct CouchbaseLiteReaderTests {
    private let made: MadeDatabase

    init() throws { made = try MadeDatabase() }

    private func reader(
        _ rows: [String], tables: [String] = ["kv_default"], keys: [String] = [], version: Int = 500
    ) throws -> any ForeignReader {
        try made.sqlite(
            "a.cblite2/db.sqlite3", version: version, MadeDatabase.schemaOf3(tables, sharedKeys: keys) + rows)
        return try #require(try ForeignSQLite.reader(at: made.folder.appending(path: "a.cblite2")))
    }

    private static let conflict: [MadeDatabase.TreeRevision] = [
        .init(id: "2-aa", parent: 2), .init(id: "3-bb", parent: 3, body: FleeceWriter.write(["v": "other"])),
        .init(id: "1-cc", body: FleeceWriter.write(["v": "base"])), .init(id: "2-dd", parent: 2),
    ]

    @Test func `a tree beside its current body is read`() throws {
        let reader = try reader(
            [
                MadeDatabase.row(
                    "a", sequence: 7, version: MadeDatabase.binary("2-aa"),
                    body: FleeceWriter.write(["v": "own"], sharedKeys: ["v"]),
                    extra: MadeDatabase.tree(Self.conflict, remotes: [(1, 1)]))
            ], keys: ["v"])
        let document = try #require(try reader.documents().first)
        #expect(document.faults.isEmpty && document.sequence == 7)
        #expect(document.leaf("2-aa")?.body == ["v": "own"] && document.leaf("3-bb")?.body == ["v": "other"])
        #expect(document.leaf("3-bb")?.history.revisions.map(\.description) == ["3-bb", "2-dd", "1-cc"])
        #expect(document.bases.map(\.revision.description) == ["1-cc"] && document.bases[0].body == ["v": "base"])
        #expect(document.shown?.description == "2-aa")
        #expect(document.server == ForeignServerState(hasCurrent: false, signature: RevisionID("3-bb")?.signature))
    }

    @Test func `a tree with all bodies, as before version 3, is read`() throws {
        var revisions = Self.conflict
        revisions[0].body = FleeceWriter.write(["v": "own"])
        let reader = try reader(
            [
                MadeDatabase.row(
                    "a", sequence: 1, flags: 8, version: MadeDatabase.binary("2-aa"), body: MadeDatabase.tree(revisions)
                ),
                MadeDatabase.row(
                    "gone", sequence: 2, flags: 1, version: MadeDatabase.binary("1-ee"),
                    body: MadeDatabase.tree([.init(id: "1-ee", isDeleted: true)])),
            ], version: 302)
        let documents = try reader.documents()
        #expect(documents[0].leaf("2-aa")?.body == ["v": "own"] && documents[0].leaf("3-bb")?.body == ["v": "other"])
        #expect(documents[0].server?.hasCurrent == true)
        #expect(documents[1].leaves.count == 1 && documents[1].leaves[0].isDeletionAtSource)
        #expect(reader.product.contains("2.6 to 2.8"))
    }

    @Test func `the newer row of a document and its tombstone counts`() throws {
        let body = FleeceWriter.write(["v": 1])
        func tree(_ id: String, _ isDeleted: Bool) -> [UInt8] {
            MadeDatabase.tree([.init(id: id, isDeleted: isDeleted)])
        }
        func row(_ key: String, _ table: String, _ sequence: Int, _ id: String) -> String {
            MadeDatabase.row(
                key, in: table, sequence: sequence, flags: table.contains("del") ? 1 : 0,
                version: MadeDatabase.binary(id),
                body: table.contains("del") ? nil : body, extra: tree(id, table.contains("del")))
        }
        let reader = try reader(
            [
                row("a", "kv_default", 1, "1-aa"), row("a", "kv_del_default", 4, "2-aa"),
                row("b", "kv_default", 3, "3-bb"), row("b", "kv_del_default", 2, "2-bb"),
                row("c", "kv_.\\Shop.\\Orders", 5, "1-cc"), row("d", "kv_.notes", 1, "1-dd"),
            ], tables: ["kv_default", "kv_del_default", "kv_.\\Shop.\\Orders", "kv_.notes", "kv_default::index"])
        #expect(reader.collections == ["_default._default", "Shop.Orders", "_default.notes"])
        let documents = try reader.documents()
        #expect(documents.map(\.id.string) == ["b", "a"] && documents.map(\.leaves[0].isDeleted) == [false, true])
        #expect(try reader.documents(in: "Shop.Orders").map(\.id.string) == ["c"])
        #expect(try reader.documents(in: "_default.notes").map(\.id.string) == ["d"])
    }

    @Test func `blobs anywhere and attachments of the old style are attachments`() throws {
        let content = Array("content".utf8)
        let digest = SHA1.hash(content)
        let name = Base64.encode(digest).replacing("/", with: "_")
        try made.file("a.cblite2/Attachments/\(name).blob", content)
        let blob: JSONValue = [
            "@type": "blob", "digest": .string("sha1-" + Base64.encode(digest)), "length": 7,
            "content_type": "text/plain",
        ]
        let missing: JSONValue = [
            "@type": "blob", "digest": .string("sha1-" + Base64.encode(SHA1.hash([]))), "length": 0,
        ]
        let body: JSONValue = [
            "a~b": ["list": [1, blob]], "gone": missing, "_attachments": ["old.txt": blob],
            "inline": [
                "@type": "blob", "digest": .string("sha1-" + Base64.encode(SHA1.hash([1, 2, 3]))), "data": "AQID",
            ],
        ]
        let reader = try reader([
            MadeDatabase.row(
                "a", sequence: 1, flags: 4, version: MadeDatabase.binary("1-aa"), body: FleeceWriter.write(body),
                extra: MadeDatabase.tree([.init(id: "1-aa")]))
        ])
        let leaf = try #require(try reader.documents().first?.leaves.first)
        #expect(leaf.body["_attachments"] == nil && leaf.body["gone"] == missing)
        let found = try Dictionary(uniqueKeysWithValues: leaf.attachments.map { ($0.name, try reader.isWhole($0)) })
        #expect(found == ["blob_/a~0b/list/1": true, "blob_/gone": nil, "old.txt": true, "blob_/inline": true])
        #expect(found.keys.contains("blob_/gone"))
    }

    @Test func `a member whose name is reserved is a fault of its revision, except for metadata`() throws {
        let body: JSONValue = ["v": 1, "_price": 3, "_id": "a", "_rev": "1-aa", "_deleted": false]
        let reader = try reader([
            MadeDatabase.row(
                "a", sequence: 1, version: MadeDatabase.binary("1-aa"), body: FleeceWriter.write(body),
                extra: MadeDatabase.tree([.init(id: "1-aa")]))
        ])
        let document = try #require(try reader.documents().first)
        #expect(document.leaves.map(\.body) == [["v": 1]])
        let fault = try #require(document.faults.first)
        #expect(document.faults.count == 1 && fault.revision?.description == "1-aa")
        #expect(fault.message.contains("\"_price\""), "\(fault)")
    }

    // MARK: Version vectors

    /// A vector in binary.
    private static func vector(_ versions: [(time: UInt64, device: [UInt8])]) -> [UInt8] {
        var (bytes, last) = ([UInt8(0)], UInt64(0))
        for (index, version) in versions.enumerated() {
            let difference = index == 0 ? version.time : last - version.time
            VariableNumber.append(difference & 0x7FFF == 0 ? difference >> 15 : difference << 1 | 1, to: &bytes)
            bytes += [UInt8(version.device.count)] + version.device
            last = version.time
        }
        return bytes
    }

    @Test func `versions are a history, from the times and the devices`() throws {
        let (time, other) = (UInt64(0x18EB_963C_8D81_0000), [UInt8](repeating: 0xAB, count: 16))
        let versions = try LiteCoreVersions(
            Self.vector([(time + 3, other), (time, [])]), device: [UInt8](repeating: 9, count: 16))
        let (ab, own) = (String(repeating: "ab", count: 16), String(repeating: "09", count: 16))
        #expect(
            versions.history.revisions.map(\.description) == ["2-18eb963c8d810003" + ab, "1-18eb963c8d810000" + own])
        for broken in [[], [0], [0, 2], [1, 2, 0], [0, 2, 5, 1], Self.vector([(1, other), (1, other)]) + [7]]
            as [[UInt8]]
        {
            #expect(throws: FleeceError.self) { try LiteCoreVersions(broken, device: other) }
        }
    }

    @Test func `ids of a tree in a vector count as generations and end the history`() throws {
        let tree = try #require(Base64.decode("Revision+Tree+Encoding==".utf8))
        let time = UInt64(0x18EB_963C_8D81_0000)
        let versions = try LiteCoreVersions(
            Self.vector([(time, []), (5 << 40 | 77, tree)]), device: [UInt8](repeating: 9, count: 16))
        #expect(versions.history.revisions.count == 1 && versions.history.start == 6)
    }

    @Test func `the side of a conflict that a peer has is a leaf`() throws {
        let (time, other) = (UInt64(0x18EB_963C_8D81_0000), [UInt8](repeating: 0xAB, count: 16))
        let vector = Self.vector([(time + 5, other)])
        var extra = FleeceWriter.data(vector)
        extra += extra.count.isMultiple(of: 2) ? [] : [0]
        let dataAt = 0
        extra += FleeceWriter.write(["v": "other"]).dropLast(2)
        let bodyAt = extra.count - 6
        // {"&": 2, ".": body, "@": vector} in [{}, …]
        let dictionary = extra.count
        func back(_ from: Int, _ to: Int) -> [UInt8] { [0x80, UInt8((from - to) / 2)] }
        extra += [0x70, 3, 0x41, 0x26, 0, 2, 0x41, 0x2E] + back(dictionary + 8, bodyAt)
        extra += [0x41, 0x40] + back(dictionary + 12, dataAt)
        let array = extra.count
        extra += [0x60, 2, 0x70, 0] + back(array + 4, dictionary)
        extra += back(extra.count, array)
        let reader = try reader([
            MadeDatabase.row(
                "a", sequence: 1, flags: 2, version: Self.vector([(time, [])]), body: FleeceWriter.write(["v": "own"]),
                extra: extra)
        ])
        let document = try #require(try reader.documents().first)
        #expect(document.faults.isEmpty && document.leaves.map(\.body) == [["v": "own"], ["v": "other"]])
        #expect(document.shown == document.leaves[0].revision)
        #expect(document.server?.signature == document.leaves[1].revision.signature)
    }

    @Test func `a damaged row is a fault of its document alone`() throws {
        let good = FleeceWriter.write(["v": 1])
        let reader = try reader([
            MadeDatabase.row(
                "bad", sequence: 1, version: MadeDatabase.binary("1-aa"), body: [0x80, 9],
                extra: MadeDatabase.tree([.init(id: "1-aa")])),
            MadeDatabase.row(
                "torn", sequence: 2, version: MadeDatabase.binary("1-aa"), body: good,
                extra: Array(MadeDatabase.tree([.init(id: "1-aa")]).dropFirst(2))),
            MadeDatabase.row(
                "parent", sequence: 3, version: MadeDatabase.binary("1-aa"), body: good,
                extra: MadeDatabase.tree([.init(id: "1-aa", parent: 77)])),
            MadeDatabase.row(
                "good", sequence: 4, version: MadeDatabase.binary("1-aa"), body: good,
                extra: MadeDatabase.tree([.init(id: "1-aa")])),
        ])
        let documents = try reader.documents()
        #expect(documents.map(\.leaves.isEmpty) == [true, true, true, false])
        #expect(documents.map(\.faults.count) == [1, 1, 1, 0])
    }
}
