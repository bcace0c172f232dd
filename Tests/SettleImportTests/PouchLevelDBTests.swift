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
        print(
            "\(path): \(probe.leaves.count) documents, \(probe.leafCount) leaves, \(probe.attachmentCount) attachments")
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
