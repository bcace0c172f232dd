import Foundation
import SettleCore
import Testing

@testable import SettleImport

/// Databases of Couchbase Lite 4, compared with what another reader saw in them and with what the product's own API said.
@Suite(.enabled(if: FixtureFiles.has("cblite2-made"))) struct CouchbaseLiteFixtureTests {
    static let names = ["tree", "tree-with-wal", "vv"]

    @Test(arguments: names) func `every revision, body and blob is read`(name: String) throws {
        let url = FixtureFiles.url("cblite2-made/\(name).cblite2")
        let before = try FixtureFiles.state(of: url)
        do {
            let reader = try #require(try ForeignSQLite.reader(at: url))
            let expected = try FixtureFiles.json("cblite2-made/\(name).expected.json")
            let collections = try #require(expected["collections"]?.object)
            #expect(reader.collections == ["_default._default", "Shop.Orders", "_default.notes"])
            #expect(reader.identity == expected["info"]?["privateUUID"]?.string)
            for member in collections {
                let collection = member.name.contains(".") ? member.name : "_default." + member.name
                let documents = try reader.documents(in: collection)
                let known = member.value.object ?? [:]
                #expect(documents.count == known.count)
                #expect(try reader.count(in: collection) == documents.count)
                #expect(documents.map(\.sequence) == documents.map(\.sequence).sorted())
                #expect(documents.filter { !$0.faults.isEmpty }.isEmpty)
                for entry in known {
                    let document = try #require(documents.first { $0.id.string == entry.name })
                    let row = try #require(entry.value[0])
                    if row["layout"] == "vector" {
                        try compareVersions(document, row, reader)
                    } else {
                        try compareTree(document, row, reader)
                    }
                    #expect(document.sequence == row["seq"]?.int.map { UInt64($0) })
                    #expect(document.expiration?.timeIntervalSince1970 == row["expiration"]?.double.map { $0 / 1000 })
                    #expect(
                        document.server?.hasCurrent
                            == (try #require(row["docflags"]?.int) & 8 != 0 || entry.name == "plain-2"))
                }
            }
            try reader.check()
        }
        #expect(try FixtureFiles.state(of: url) == before)
    }

    private func compareTree(_ document: ForeignDocument, _ row: JSONValue, _ reader: any ForeignReader) throws {
        let revisions = try #require(row["revs"]?.array)
        let parents = Dictionary(
            revisions.map { ($0["rev"]?.string ?? "", $0["parent"]?.string) }, uniquingKeysWith: { first, _ in first })
        let leaves = revisions.filter { $0["flags"]?.array?.contains("leaf") == true }
        #expect(document.leaves.count == leaves.count)
        for expected in leaves {
            let name = try #require(expected["rev"]?.string)
            let leaf = try #require(document.leaf(name))
            var (path, next) = ([name], parents[name] ?? nil)
            while let parent = next { (path, next) = (path + [parent], parents[parent] ?? nil) }
            #expect(leaf.history.revisions.map(\.description) == path)
            #expect(leaf.isDeleted == expected["flags"]?.array?.contains("deleted"))
            #expect(leaf.body.json.hasSameMeaning(as: try #require(expected["body"])))
            try compareBlobs(leaf, expected["blobs"]?.array ?? [], reader)
        }
        if leaves.count > 1 {
            let base = try #require(document.bases.first)
            #expect(base.revision.description == "1-e2c8d8cca1e140e386add63f58ad1493363b6e4d")
            #expect(base.body == ["v": "base"])
            // The app sees its own side, and the other one wins here.
            #expect(document.shown?.description == row["version"]?.string)
        } else {
            #expect(document.shown == nil && document.bases.isEmpty)
        }
        let remote = row["remotes"]?["1"]?.string
        // A flag of the row says that the server has the current one, whatever the tree says.
        let isSynced = try #require(row["docflags"]?.int) & 8 != 0
        if let remote, !isSynced { #expect(document.server?.signature == RevisionID(remote)?.signature) }
    }

    private func compareVersions(_ document: ForeignDocument, _ row: JSONValue, _ reader: any ForeignReader) throws {
        let isConflict = document.id == "conflict"
        #expect(document.leaves.count == (isConflict ? 2 : 1))
        let leaf = try #require(document.leaves.first)
        #expect(leaf.isDeleted == (try #require(row["docflags"]?.int) & 1 != 0))
        #expect(leaf.isDeletionAtSource == leaf.isDeleted)
        #expect(leaf.body.json.hasSameMeaning(as: row["body"]?.object.map { .object($0) } ?? [:]))
        try compareBlobs(leaf, row["blobs"]?.array ?? [], reader)
        #expect(leaf.history.revisions.map(\.description) == Self.history(row["version"]?.string ?? ""))
        let copies = row["remoteRevs"]?.array ?? []
        guard isConflict else { return }
        let other = try #require(document.leaves.last)
        let copy = try #require(copies.first { $0["flags"] == 2 })
        #expect(other.history.revisions.map(\.description) == Self.history(copy["rev"]?.string ?? ""))
        #expect(other.body.json.hasSameMeaning(as: copy["body"] ?? nil))
        #expect(document.shown == leaf.revision)
        #expect(document.server?.signature == other.revision.signature && document.server?.hasCurrent == false)
    }

    /// The history that a vector in text stands for: `time@device; …`, the newest first.
    static func history(_ vector: String) -> [String] {
        let own = "5b0235893baa4f01ba92cd17663fb578"
        let versions = vector.split { ";, ".contains($0) }.map { version in
            let parts = version.split(separator: "@").map(String.init)
            let device = parts[1] == "*" ? own : "8b21de7201834360b0af86ee0bd5ed17"
            return String(repeating: "0", count: 16 - parts[0].count) + parts[0] + device
        }
        return versions.enumerated().map { "\(versions.count - $0.offset)-\($0.element)" }
    }

    private func compareBlobs(
        _ leaf: Revision<ForeignAttachment>, _ blobs: [JSONValue], _ reader: any ForeignReader
    ) throws {
        #expect(leaf.attachments.count == blobs.count)
        for blob in blobs {
            let path = try #require(blob[0]?.string)
            let attachment = try #require(leaf.attachments.first { $0.name == "blob_" + path })
            #expect(Int(attachment.length) == blob[2]?.int)
            #expect(try reader.content(of: attachment).count == Int(attachment.length))
            #expect(try reader.isWhole(attachment) == true)
        }
    }

    @Test(arguments: ["tree", "vv"]) func `what the product's own API says is what is read`(name: String) throws {
        let reader = try #require(try ForeignSQLite.reader(at: FixtureFiles.url("cblite2-made/\(name).cblite2")))
        let says = try #require(try FixtureFiles.json("cblite2-made/litecore_says.json")[name]?.object)
        let documents = try reader.documents()
        var compared = 0
        for member in says where member.name != "Shop.Orders" {
            let document = try #require(documents.first { $0.id.string == member.name })
            try compare(document, member.value["get"] ?? nil)
            compared += 1
            guard name == "tree" else { continue }
            let revisions = try #require(member.value["revs"]?["revs"]?.array).compactMap { $0[0]?.string }
            let own = Set(document.leaves.flatMap { $0.history.revisions.map(\.description) })
            #expect(Set(revisions) == own)
        }
        for member in says["Shop.Orders"]?.object ?? [:] {
            let document = try #require(try reader.documents(in: "Shop.Orders").first { $0.id.string == member.name })
            try compare(document, member.value)
            compared += 1
        }
        #expect(compared == 11)
    }

    private func compare(_ document: ForeignDocument, _ says: JSONValue) throws {
        let history = try #require(says["history"]?.string)
        let path =
            history.contains("@")
            ? Self.history(history) : history.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let leaf = try #require(document.leaf(path[0]))
        #expect(leaf.history.revisions.map(\.description) == path)
        #expect(leaf.isDeleted == (try #require(says["flags"]?.int) & 1 != 0))
        if let body = says["body"] { #expect(leaf.body.json.hasSameMeaning(as: body)) }
        #expect(document.sequence == says["seq"]?.int.map { UInt64($0) })
    }
}
