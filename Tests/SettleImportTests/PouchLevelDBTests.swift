import Foundation
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

@Suite(.enabled(if: FixtureFiles.areThere))
struct PouchLevelDBFixtureTests {
    static let databases = [
        "pouchdb-leveldb/lateStyle", "pouchdb-leveldb/laterStyle", "pouchdb-leveldb/middleStyle",
        "pouchdb-leveldb-made/log",
    ]

    private func probe(_ path: String) throws -> ForeignProbe {
        try ForeignProbe(try #require(try LevelDBReader.reader(at: FixtureFiles.url(path))))
    }

    @Test(arguments: databases)
    func `a database of PouchDB has the documents that PouchDB wrote`(path: String) throws {
        let reader = try #require(try LevelDBReader.reader(at: FixtureFiles.url(path)))
        let expected = try FixtureFiles.json(path + ".expected.json")
        let probe = try ForeignProbe(reader)
        // PouchDB of before 2014 kept local documents among the others.
        try probe.compare(with: expected, ignoring: ["_local/234234234234", "_local/foo"])
        #expect(try reader.count(in: defaultCollection) == probe.leaves.count)
        #expect(reader.identity == expected["meta"]?["_local_uuid"]?.string || path.contains("middle"))
        #expect(reader.leftOut.isEmpty)
    }

    @Test func `the leaves are those of PouchDB's own answers`() throws {
        let probe = try probe("pouchdb-leveldb-made/log")
        try probe.compare(withAnswers: try FixtureFiles.json("pouchdb-leveldb-made/truth_open_revs.json"))
        #expect(probe.leafCount == 18)
        #expect(probe.locals == ["_local/mine": ["cursor": 17]])
        // The base of the branches of a document in conflict.
        let base = try #require(probe.bases["conflict"]?.first)
        #expect(base.key.description == "1-11111111111111111111111111111111")
        #expect(base.value.body == ["v": "base"])
    }

    @Test func `local documents among the others are passed as local ones`() throws {
        let probe = try probe("pouchdb-leveldb/middleStyle")
        #expect(probe.locals == ["_local/foo": ["something": "else"], "_local/234234234234": ["lastSeq": 9]])
        #expect(Set(probe.leaves.keys) == ["_design/foo"])
    }

    @Test func `a folder with one store in each subfolder is refused`() throws {
        #expect {
            try LevelDBReader.reader(at: FixtureFiles.url("pouchdb-leveldb/oldStyle"))
        } throws: { ("\($0)").contains("PouchDB 2 or older") }
    }

    @Test func `a folder with several databases asks for one`() throws {
        #expect {
            try LevelDBReader.reader(at: FixtureFiles.url("pouchdb-leveldb"))
        } throws: { ("\($0)").contains("give the folder of one (lateStyle, laterStyle, middleStyle)") }
    }

    @Test(arguments: databases)
    func `a file that is read stays as it is`(path: String) throws {
        try FixtureFiles.withCopy(of: FixtureFiles.url(path)) { copy in
            let before = try FixtureFiles.state(of: copy)
            _ = try ForeignProbe(try #require(try LevelDBReader.reader(at: copy)))
            #expect(try FixtureFiles.state(of: copy) == before)
        }
    }

    @Test(arguments: databases)
    func `reading goes on after a sequence`(path: String) throws {
        let reader = try #require(try LevelDBReader.reader(at: FixtureFiles.url(path)))
        let all = try ForeignProbe(reader)
        for place in all.sequences.indices {
            let rest = try ForeignProbe(reader, after: all.sequences[place])
            #expect(rest.order == Array(all.order[(place + 1)...]))
        }
    }

    @Test(arguments: databases, 0..<2)
    func `a damaged copy gives no wrong body`(path: String, part: Int) throws {
        let original = try probe(path)
        for number in 0..<20 {
            let seed = UInt64(part * 20 + number)
            var random = SeededRandom(seed: seed)
            try FixtureFiles.withCopy(of: FixtureFiles.url(path)) { copy in
                let damage = try FixtureFiles.damage(copy, &random)
                do {
                    guard let reader = try LevelDBReader.reader(at: copy) else { return }
                    let probe = try ForeignProbe(reader)
                    #expect(probe.differences(from: original).isEmpty, "\(path) with seed \(seed)")
                    let isWhole = probe.leaves == original.leaves
                    #expect(
                        isWhole || !reader.leftOut.isEmpty || !probe.faults.isEmpty,
                        "\(path) with seed \(seed): \(damage)")
                } catch is ForeignFileError {}
            }
        }
    }
}

/// Databases made here, so that they run everywhere.
@Suite struct PouchLevelDBTests {
    private static func change(_ store: String, _ key: String, _ value: String) -> LevelWriter.Change {
        (Array("\u{FF}\(store)\u{FF}\(key)".utf8), Array(value.utf8))
    }

    private static func withReader(
        _ changes: [(store: String, key: String, value: String)], _ use: (any ForeignReader) throws -> Void
    ) throws {
        try LevelWriter.withFolder { folder in
            var writer = try LevelWriter(folder)
            _ = try writer.finish([changes.map { change($0.store, $0.key, $0.value) }])
            try use(try #require(try LevelDBReader.reader(at: folder)))
        }
    }

    private static func sequence(_ number: Int) -> String { String(format: "%016d", number) }

    @Test func `leaves, bases, tombstones and attachments are read`() throws {
        let tree = #"""
            {"id":"a","rev_tree":[{"pos":1,"ids":["a0",{"status":"available"},[["b1",{"status":"available"},[]],\#
            ["b2",{"status":"available","deleted":true},[]],["b3",{"status":"missing"},[]]]]}],\#
            "rev_map":{"1-a0":1,"2-b1":2,"2-b2":3},"seq":3}
            """#
        try Self.withReader([
            ("meta-store", "_local_uuid", "\"U\""), ("document-store", "a", tree),
            ("document-store", "late", #"{"rev_tree":[{"pos":7,"ids":["x",{},[]]}],"rev_map":{"7-x":9},"seq":9}"#),
            ("document-store", "broken", "{"), ("document-store", "_odd", "{}"),
            ("by-sequence", Self.sequence(1), #"{"v":"base"}"#),
            (
                "by-sequence", Self.sequence(2),
                #"{"v":1.0,"_attachments":{"e":{"digest":"md5-1B2M2Y8AsgTpgAmY7PhCfg==","length":0},"#
                    + #""gone":{"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA==","length":3,"revpos":2,"stub":true}}}"#
            ),
            ("by-sequence", Self.sequence(3), #"{"_id":"a","_deleted":true,"why":"old"}"#),
            ("by-sequence", Self.sequence(9), #"{"v":2}"#),
            ("local-store", "_local/mine", #"{"_id":"_local/mine","_rev":"0-3","x":1}"#),
            ("local-store", "_local/abc==", #"{"last_seq":3,"session_id":"s","history":[]}"#),
            ("local-store", "_local/mrviews", #"{"views":{}}"#),
        ]) { reader in
            #expect(reader.identity == "U")
            #expect(try reader.count(in: defaultCollection) == 4)
            let probe = try ForeignProbe(reader)
            #expect(probe.order == [DocumentID(unchecked: "_odd"), "broken", "a", "late"])
            let leaves = try #require(probe.leaves["a"])
            #expect(leaves.keys.map(\.description).sorted() == ["2-b1", "2-b2"])
            #expect(leaves[try RevisionID(validating: "2-b2")]?.body == ["why": "old"])
            #expect(leaves[try RevisionID(validating: "2-b2")]?.isDeleted == true)
            let live = try #require(leaves[try RevisionID(validating: "2-b1")])
            #expect(live.attachments.count == 2 && live.attachments["gone"] == .some(nil))
            #expect(probe.bases["a"]?.keys.map(\.description) == ["1-a0"])
            #expect(probe.leaves["late"]?.values.first?.history.start == 7)
            #expect(probe.locals == ["_local/mine": ["x": 1]])
            #expect(
                probe.faults.sorted() == [
                    "_odd: its id is not one of a document", "a gone: the content of gone is not in the file",
                    "a: the body is not in the file", "broken: its revisions can't be read",
                ])
        }
    }

    @Test func `a local document that can't be read is left out alone`() throws {
        try Self.withReader([
            ("meta-store", "_local_uuid", "\"U\""), ("local-store", "_local/torn", "no JSON"),
            ("local-store", "_local/whole", #"{"x":1}"#), ("document-store", "_local/old", "{"),
        ]) { reader in
            let probe = try ForeignProbe(reader)
            #expect(probe.locals == ["_local/whole": ["x": 1]])
            #expect(reader.leftOut.count == 2 && reader.leftOut[0].hasPrefix(#"the local document "_local/torn""#))
        }
    }

    @Test func `a history of five thousand generations is read`() throws {
        var ids = #"["5000",{"status":"available"},[]]"#
        for generation in (1..<5000).reversed() { ids = "[\"\(generation)\",{\"status\":\"missing\"},[\(ids)]]" }
        let metadata = "{\"rev_tree\":[{\"pos\":1,\"ids\":\(ids)}],\"rev_map\":{\"5000-5000\":1},\"seq\":1}"
        try Self.withReader([("document-store", "a", metadata), ("by-sequence", Self.sequence(1), "{}")]) { reader in
            let leaf = try #require(try ForeignProbe(reader).leaves["a"]?.values.first)
            #expect(leaf.history.signatures.count == 5000)
            #expect(leaf.history.signatures.last?.description == "1")
        }
    }

    @Test func `an index of PouchDB is refused, and one beside a database is named`() throws {
        try LevelWriter.withFolder { folder in
            for name in ["notes", "notes-mrview-temp-1a2b"] {
                var writer = try LevelWriter(folder.appending(path: name))
                _ = try writer.finish([[Self.change("meta-store", "_local_uuid", "\"U\"")]])
            }
            let reader = try #require(try LevelDBReader.reader(at: folder))
            #expect(reader.leftOut == ["indexes"])
            #expect {
                try LevelDBReader.reader(at: folder.appending(path: "notes-mrview-temp-1a2b"))
            } throws: { "\($0)".contains("is an index of PouchDB") }
        }
    }

    @Test func `a folder and a file of another kind are not LevelDB`() throws {
        try LevelWriter.withFolder { folder in
            #expect(try LevelDBReader.reader(at: folder) == nil)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            #expect(try LevelDBReader.reader(at: folder) == nil)
            try Data("CURRENT".utf8).write(to: folder.appending(path: "CURRENT"))
            #expect(try LevelDBReader.reader(at: folder) == nil)
        }
    }
}
