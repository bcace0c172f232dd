import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

@Suite(.enabled(if: FixtureFiles.areThere))
struct CouchFileFixtureTests {
    static let files = [
        "couchdb-3.5/filesfix", "couchdb-3.5/filesfix_compacted", "couch-file/colltest1", "couch-file/db321",
        "couch-file/db_non_partitioned", "couch-file/db_v6_with_1_purge_req",
        "couch-file/db_v6_with_1_purge_req_for_2_docs", "couch-file/db_v6_with_2_purge_req",
        "couch-file/db_v6_without_purge_req", "couch-file/db_v7_with_1_purge_req",
        "couch-file/db_v7_with_1_purge_req_for_2_docs", "couch-file/db_v7_with_2_purge_req",
        "couch-file/db_v7_without_purge_req", "couch-file/test",
    ]

    private func url(_ path: String) -> URL { FixtureFiles.url(path + ".couch") }

    private func reader(_ path: String) throws -> any ForeignReader {
        try #require(try CouchFileReader.reader(at: url(path)))
    }

    @Test(arguments: files)
    func `a file has the documents that CouchDB wrote`(path: String) throws {
        let reader = try reader(path)
        let expected = try FixtureFiles.json(path + ".expected.json")
        let probe = try ForeignProbe(reader)
        try probe.compare(with: expected)
        #expect(!reader.leftOut.contains { $0.hasPrefix("the last") })
        #expect(try reader.count(in: defaultCollection) == probe.leaves.count)
        #expect(reader.identity == expected["uuid"]?.string)
        #expect(reader.product.hasSuffix("\(expected["disk_version"]?.int ?? 0)"))
        #expect(probe.sequences.map { Int($0) } == expected["seqs"]?.array?.compactMap(\.int))
    }

    @Test(arguments: ["filesfix", "filesfix_compacted"])
    func `the leaves are those of CouchDB's own answers`(name: String) throws {
        let probe = try ForeignProbe(try reader("couchdb-3.5/" + name))
        try probe.compare(withAnswers: try FixtureFiles.json("couchdb-3.5/truth_open_revs.json"))
        #expect(probe.leafCount == 13)
        #expect(probe.locals == ["_local/mine": ["cursor": 17]])
    }

    @Test(arguments: files)
    func `a file that is read stays as it is`(path: String) throws {
        try FixtureFiles.withCopy(of: url(path)) { copy in
            let before = try FixtureFiles.state(of: copy)
            _ = try ForeignProbe(try #require(try CouchFileReader.reader(at: copy)))
            #expect(try FixtureFiles.state(of: copy) == before)
        }
    }

    @Test(arguments: files)
    func `reading goes on after a sequence`(path: String) throws {
        let reader = try reader(path)
        let all = try ForeignProbe(reader)
        for place in all.sequences.indices {
            let rest = try ForeignProbe(reader, after: all.sequences[place])
            #expect(rest.order == Array(all.order[(place + 1)...]))
        }
    }

    /// Nodes have no checksum, so that a revision's id may change; a body that is given has that of its chunk.
    @Test(arguments: files)
    func `a damaged copy gives no wrong body`(path: String) throws {
        let original = try ForeignProbe(try reader(path))
        for seed in 0..<30 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            try FixtureFiles.withCopy(of: url(path)) { copy in
                let damage = try FixtureFiles.damage(copy, &random)
                do {
                    guard let reader = try CouchFileReader.reader(at: copy) else { return }
                    let probe = try ForeignProbe(reader)
                    let bodies =
                        original.leaves.values.flatMap { $0.values.map(\.body) }
                        + original.bases.values.flatMap { $0.values.map(\.body) }
                    for (id, leaves) in probe.leaves {
                        for (revision, leaf) in leaves where leaf.body != [:] {
                            let known = bodies.contains { $0.hasSameMeaning(as: leaf.body) }
                            // A file that ends early is that of an earlier time, and says so.
                            #expect(
                                known || reader.leftOut.contains { $0.hasPrefix("the last") },
                                "\(path) with seed \(seed): \(damage), \(id) \(revision) is \(leaf.body)")
                        }
                    }
                } catch is ForeignFileError {}
            }
        }
    }

    @Test func `the files of all ranges are one database`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "couch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let places = [("00000000-7fffffff", "couch-file/test"), ("80000000-ffffffff", "couchdb-3.5/filesfix")]
        var files: [URL] = []
        for (range, fixture) in places {
            let place = folder.appending(path: "shards/\(range)/team/notes.1700000000.couch")
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: url(fixture), to: place)
            files.append(place)
        }
        let parts = try places.map { try ForeignProbe(try reader($0.1)) }
        for start in [folder, folder.appending(path: "shards"), files[0], files[1]] {
            let probe = try ForeignProbe(try #require(try CouchFileReader.reader(at: start)))
            #expect(probe.order == parts[0].order + parts[1].order)
            #expect(probe.leaves["att"] == parts[1].leaves["att"])
            #expect(probe.faults.isEmpty)
        }
        let whole = try #require(try CouchFileReader.reader(at: folder))
        let all = try ForeignProbe(whole)
        #expect(try ForeignProbe(whole, after: all.sequences[5]).order == Array(all.order[6...]))

        try FileManager.default.removeItem(at: files[0])
        #expect { try CouchFileReader.reader(at: folder) } throws: {
            "\($0)".contains("has the shard 80000000-ffffffff and not all")
        }
        let part = try #require(try CouchFileReader.reader(at: files[1], isPartial: true))
        #expect(try ForeignProbe(part).order == parts[1].order)
    }

    @Test func `a folder with files of several databases asks for one`() throws {
        #expect { try CouchFileReader.reader(at: FixtureFiles.url("couchdb-3.5")) } throws: {
            "\($0)".contains("filesfix.couch, filesfix_compacted.couch")
        }
    }
}

/// Files made here, so that they run everywhere.
@Suite struct CouchFileTests {
    private func withFile(_ bytes: [UInt8], _ use: (URL) throws -> Void) throws {
        try LevelWriter.withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let url = folder.appending(path: "notes.couch")
            try Data(bytes).write(to: url)
            try use(url)
        }
    }

    /// The value of a document among the sequences.
    private func value(_ id: String, _ tree: [CouchWriter.Term]) -> CouchWriter.Term {
        .tuple([.text(id), .integer(0), .tuple([.integer(1), .integer(1)]), .list(tree)])
    }

    private func node(_ id: [UInt8], _ position: Int?, _ children: [CouchWriter.Term] = []) -> CouchWriter.Term {
        let value = position.map { CouchWriter.Term.tuple([.integer(0), .integer($0), .integer(1)]) } ?? .list([])
        return .tuple([.binary(id), value, .list(children)])
    }

    @Test(arguments: [false, true])
    func `documents in trees of many nodes are read in order`(hasNewSums: Bool) throws {
        var writer = CouchWriter()
        writer.hasNewSums = hasNewSums
        var pairs: [(CouchWriter.Term, CouchWriter.Term)] = []
        var bodies: [DocumentBody] = []
        for number in 0..<100 {
            let body: DocumentBody = [
                "n": .number(JSONNumber(number)), "text": .string(String(repeating: "ab", count: 20 * number)),
            ]
            bodies.append(body)
            let position = writer.body(body)
            pairs.append(
                (
                    .integer(3 * number + 1),
                    value(
                        "doc\(number)",
                        [
                            .tuple([.integer(2), node([UInt8](repeating: UInt8(number), count: 16), position)])
                        ])
                ))
        }
        let sequences = writer.tree(pairs)
        writer.header(sequences: sequences)
        try withFile(writer.bytes) { url in
            let reader = try #require(try CouchFileReader.reader(at: url))
            let probe = try ForeignProbe(reader)
            #expect(probe.order == (0..<100).map { DocumentID(unchecked: "doc\($0)") })
            let expected = Array(stride(from: UInt64(1), to: 301, by: 3))
            #expect(probe.sequences == expected)
            for number in 0..<100 {
                let leaf = try #require(probe.leaves[DocumentID(unchecked: "doc\(number)")]?.values.first)
                #expect(leaf.body == bodies[number].json)
                #expect(leaf.history.start == 2 && leaf.history.signatures.count == 1)
            }
            #expect(reader.identity == "uuid")
            #expect(try ForeignProbe(reader, after: 150).order.first == "doc50")
        }
    }

    @Test func `a local document that can't be read is left out alone`() throws {
        var writer = CouchWriter()
        let locals = writer.tree([
            (.text("_local/torn"), .tuple([.integer(1), .integer(7)])),
            (.text("_local/whole"), .tuple([.integer(1), .body(["cursor": 17])])),
        ])
        writer.header(sequences: .atom("nil"), locals: locals)
        try withFile(writer.bytes) { url in
            let reader = try #require(try CouchFileReader.reader(at: url))
            #expect(try ForeignProbe(reader).locals == ["_local/whole": ["cursor": 17]])
            #expect(reader.leftOut == [#"the local document "_local/torn", which can't be read"#])
        }
    }

    @Test func `a body whose checksum differs is a fault`() throws {
        var writer = CouchWriter()
        let bad = writer.body(["v": "damaged"])
        let good = writer.body(["v": "whole"])
        let sequences = writer.tree([
            (.integer(1), value("a", [.tuple([.integer(1), node([1], bad)])])),
            (.integer(2), value("b", [.tuple([.integer(1), node([1], good, [node([2], nil)])])])),
        ])
        writer.header(sequences: sequences)
        var bytes = writer.bytes
        bytes[bad + 30] ^= 1
        try withFile(bytes) { url in
            let probe = try ForeignProbe(try #require(try CouchFileReader.reader(at: url)))
            #expect(probe.leaves.isEmpty)
            #expect(probe.faults.count == 2)
            #expect(probe.faults[0].contains("the checksum at \(bad) differs"))
            #expect(probe.faults[1] == "b: the body is not in the file")
        }
    }

    @Test func `an attachment is passed in pieces`() throws {
        var writer = CouchWriter()
        let content = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 / 100) }
        let places = [writer.chunk(Array(content[..<70_000])), writer.chunk(Array(content[70_000...]))]
        let md5 = MD5()
        md5.update(content)
        let digest = md5.finish()
        let position = writer.body(
            [:],
            attachments: [
                .tuple([
                    .text("a.bin"), .text("image/png"), .list(places.map { .tuple([.integer($0), .integer(1)]) }),
                    .integer(content.count), .integer(content.count), .integer(1), .binary(digest), .atom("identity"),
                ])
            ])
        let sequences = writer.tree([(.integer(1), value("a", [.tuple([.integer(1), node([1], position)])]))])
        writer.header(sequences: sequences)
        try withFile(writer.bytes) { url in
            let probe = try ForeignProbe(try #require(try CouchFileReader.reader(at: url)))
            #expect(probe.leaves["a"]?.values.first?.attachments == ["a.bin": digest])
            #expect(probe.faults.isEmpty)
        }
    }

    @Test func `a tree that leads back to itself is refused`() throws {
        var writer = CouchWriter()
        let pair = CouchWriter.Term.tuple([.integer(9), .tuple([.integer(0), .list([]), .integer(1)])])
        let position = writer.chunk(CouchWriter.Term.tuple([.atom("kp_node"), .list([pair])]).bytes, hasSum: false)
        writer.header(sequences: .tuple([.integer(position), .list([]), .integer(1)]))
        try withFile(writer.bytes) { url in
            let reader = try #require(try CouchFileReader.reader(at: url))
            #expect { _ = try ForeignProbe(reader) } throws: { ($0 as? ForeignFileError)?.code == .damaged }
        }
    }

    @Test func `a damaged end is that of an earlier time, and reported`() throws {
        var writer = CouchWriter()
        let first = writer.tree([(.integer(1), value("a", [.tuple([.integer(1), node([1], writer.body(["v": 1]))])]))])
        writer.header(sequences: first)
        let length = writer.bytes.count
        let second = writer.tree([(.integer(2), value("a", [.tuple([.integer(1), node([2], writer.body(["v": 2]))])]))])
        writer.header(sequences: second)
        var bytes = writer.bytes
        try withFile(bytes) { url in
            let reader = try #require(try CouchFileReader.reader(at: url))
            #expect(try ForeignProbe(reader).leaves["a"]?.values.first?.body == ["v": 2])
            #expect(reader.leftOut.isEmpty)
        }
        bytes[bytes.count - 3] ^= 1
        try withFile(bytes) { url in
            let reader = try #require(try CouchFileReader.reader(at: url))
            #expect(try ForeignProbe(reader).leaves["a"]?.values.first?.body == ["v": 1])
            #expect(
                reader.leftOut == [
                    "the last \(bytes.count - length) bytes of notes.couch, after the last commit that is whole"
                ])
        }
    }

    @Test func `other files are not of CouchDB, or refused`() throws {
        try withFile([1, 0, 0, 0, 40] + [UInt8](repeating: 0, count: 40)) { url in
            #expect { try CouchFileReader.reader(at: url) } throws: { "\($0)".contains("has no header of CouchDB") }
            let other = url.deletingLastPathComponent().appending(path: "notes.db")
            try FileManager.default.moveItem(at: url, to: other)
            #expect(try CouchFileReader.reader(at: other) == nil)
            #expect(try CouchFileReader.reader(at: other.deletingLastPathComponent()) == nil)
        }
        var writer = CouchWriter()
        writer.header(sequences: .atom("nil"), version: 5)
        try withFile(writer.bytes) { url in
            #expect { try CouchFileReader.reader(at: url) } throws: { "\($0)".contains("disk version 5") }
        }
    }
}

@Suite struct StoredTermTests {
    private static let texts = [
        "{}", #"{"a":1,"b":-1,"c":[],"d":[1,2,255],"e":[1,256,"x"],"f":{},"g":{"h":[{"i":null}]}}"#,
        #"{"t":true,"f":false,"n":null,"s":"a\"\\\n\u0001é😄","empty":"","list":[[],[[]],{}]}"#,
        #"{"big":123456789012345678901234567890,"minus":-9223372036854775809,"max":4294967296,"low":-2147483649}"#,
        #"{"x":1.5,"y":-0.0,"z":1e+300,"w":5.0e-324,"v":0.1}"#,
    ]

    @Test(arguments: texts)
    func `a body prints as the JSON that it was made of`(text: String) throws {
        let body = try DocumentBody(parsing: text)
        let term = ErlangTerm.members(body).bytes
        let json = try #require(TermJSON.text(term))
        #expect(try DocumentBody(utf8: json).json == body.json, "\(String(decoding: json, as: UTF8.self))")
        let compressed =
            try [131, 80] + (0..<4).map { UInt8(truncatingIfNeeded: (term.count - 1) >> (24 - 8 * $0)) }
            + Deflate.compress(Array(term.dropFirst()), .zlib)
        #expect(StoredTerm.expand(compressed) == term)
        #expect(StoredTerm.expand([1] + LevelWriter.snappy(term)) == term)
        for length in 0..<term.count {
            #expect(TermJSON.text(Array(term[..<length])) == nil)
            #expect(StoredTerm(Array(term[..<length])) == nil)
        }
    }

    @Test func `terms are read as they are`() throws {
        let term = ErlangTerm.tuple([
            .atom("db_header"), .integer(8), .integer(-5), .binary("x"), .list([.integer(1000), .list([])]), .list([]),
        ])
        let fields = try #require(StoredTerm(term.bytes)?.tuple)
        #expect(fields.count == 6)
        #expect(fields[0].atom == "db_header")
        #expect(fields[1].integer == 8)
        #expect(fields[2].integer == -5)
        #expect(fields[3].binary.map { Array($0) } == [120])
        #expect(fields[4].list?.first?.integer == 1000)
        #expect(fields[4].list?.last?.list?.isEmpty == true)
        #expect(fields[5].list?.isEmpty == true)
        #expect(StoredTerm([131, 107, 0, 2, 7, 8])?.integers == [7, 8])
        #expect(StoredTerm([131, 110, 2, 1, 0, 1])?.integer == -256)
    }

    @Test func `a term that is nested a million times is read`() throws {
        let depth = 1_000_000
        let nested =
            [131] + (0..<depth).flatMap { _ in [108, 0, 0, 0, 1] as [UInt8] }
            + [UInt8](repeating: 106, count: depth + 1)
        let term = try #require(StoredTerm(nested))
        #expect(term.list?.first?.list?.count == 1)
        #expect(TermJSON.text(nested)?.count == 2 * depth + 2)
        #expect(throws: JSONError.self) { try DocumentBody(utf8: #require(TermJSON.text(nested))) }
    }

    /// The sums of the reference implementation, of bytes 0, 1, 2 … 255, 0 …
    @Test(arguments: Self.sums)
    func `XXH128 is that of the reference`(length: Int, sum: String) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        #expect(Hexadecimal.encode(bytes.withUnsafeBytes { XXH128.sum($0) }) == sum)
    }

    private static let sums = [
        (0, "99aa06d3014798d86001c324468d497f"),
        (1, "a6cd5e9392000f6ac44bdff4074eecdb"),
        (2, "6a4a5274c1b0d3add6645fc3051a9457"),
        (3, "e3b55f57945a17cf5f4299fc161c9cbb"),
        (4, "eb70bf5fc779e9e6a6111d53e80a3db5"),
        (5, "9434532106a7c141c920d2347a85929b"),
        (8, "e1e4432a62217fe4cfd50c61c8bb98c1"),
        (9, "16c769d83e4aebce907931979dca3746"),
        (16, "72950631827607e2842812cc870dcae2"),
        (17, "685bc458b37d057fc06e233df7729217"),
        (32, "25e7c9b3424ceed2457d9566b6fcd697"),
        (33, "02175c3aabb00637e08d84951339de86"),
        (64, "9c6e140a465545e590c1971ddb04ce74"),
        (128, "14792fc3af88dc6c05321a0b64d67b41"),
        (129, "dd5e74ac6b45f54ebc30b63382b09a3b"),
        (160, "4e95c1cd6dc7bb85c67fcd13c31b09f4"),
        (240, "65b5be86da5540e7c92b68e16f83bbb6"),
        (241, "1da1cb61bcb8a2a102e8cd95421c6d02"),
        (255, "5914868aa80541d9b85fd37a0a050e63"),
        (256, "f1f8a93f50849ac39408a4433b952d71"),
        (1023, "24a6b20b01d4b80026a0a01d1c925c06"),
        (1024, "83885e853bb6640ca870f92984398d22"),
        (1025, "e1e508f110763b4678c86e91ee939852"),
        (2048, "df73e0768dd183fadd420471ff96bd00"),
        (2049, "95f65d47a8aa231662dff343e7dbac9b"),
        (4096, "03916578969f7a66eb4b7c3707879151"),
        (10000, "ddd880951f8af0043eee77440c4c3d08"),
    ]
}
