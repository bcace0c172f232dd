internal import Settle
import SettleDatabase

extension StorageEngineSuite {
    static func locals(_ engine: any StorageEngine, _ report: inout Report) throws {
        let written = LocalDocument(id: "_local/a", revisionNumber: 3, body: ["v": 1])
        try engine.hold { writer in
            try writer.put(LocalDocument(id: "_local/b", revisionNumber: 1, body: .empty))
            try writer.put(LocalDocument(id: "_local/a", revisionNumber: 2, body: .empty))
            try writer.put(written)
        }
        report.expect(try engine.read { try $0.localDocument("_local/a") } == written, "the last write is read")
        let ids = try engine.read { try $0.localDocuments(after: nil, limit: 9).map(\.id) }
        report.expect(ids == ["_local/a", "_local/b"], "local documents are listed in order")
        let rest = try engine.read { try $0.localDocuments(after: "_local/a", limit: 9).map(\.id) }
        report.expect(rest == ["_local/b"], "listing goes on after an id")
        try engine.hold { try $0.remove(.local("_local/a")) }
        report.expect(try engine.read { try $0.localDocument("_local/a") } == nil, "a removed one is gone")
        report.expect(try engine.read { try $0.lastSequence } == 0, "local documents take no sequence")
    }

    static func blobs(_ engine: any StorageEngine, _ report: inout Report) throws {
        let digests = (1...3).compactMap { BlobDigest([UInt8](repeating: $0, count: 32)) }
        let md5 = [UInt8](repeating: 1, count: 16)
        let small = BlobRecord(digest: digests[1], md5: md5, length: 2, content: [1, 2], isFile: false)
        let empty = BlobRecord(digest: digests[2], md5: md5, length: 0, content: [], isFile: false)
        // An engine that keeps large contents itself stores them first, which another check tests.
        let large =
            engine is any BlobKeepingStorage
            ? BlobRecord(digest: digests[0], md5: md5, length: 1, content: [1], isFile: false)
            : BlobRecord(digest: digests[0], md5: md5, length: 1 << 40, content: nil, isFile: true)
        try engine.hold { writer in for blob in [small, large, empty, small] { try writer.put(.blob(blob)) } }
        for blob in [small, empty, large] {
            report.expect(try engine.read { try $0.blob(blob.digest) } == blob, "a blob is read as it was written")
        }
        let listed = try engine.read { try $0.blobs(after: nil, limit: 9) }
        report.expect(listed.map(\.digest) == digests, "blobs are listed by digest")
        report.expect(listed.allSatisfy { $0.content == nil }, "and without contents")
        report.expect(listed.map(\.isFile) == [large.isFile, false, false], "and say whether they are files")
        try engine.hold { try $0.remove(.blob(digests[1])) }
        report.expect(try engine.read { try $0.blob(digests[1]) } == nil, "a removed blob is gone")
        let rest = try engine.read { try $0.blobs(after: digests[0], limit: 9).map(\.digest) }
        report.expect(rest == [digests[2]], "listing goes on after a digest")
    }

    static func settings(_ engine: any StorageEngine, _ report: inout Report) throws {
        try engine.hold { writer in
            try writer.setSetting("a", to: "1")
            try writer.setSetting("a", to: "é")
            try writer.setSetting("b", to: "2")
            try writer.setSetting("b", to: nil)
            try writer.setExpiration(30, of: "x")
            try writer.setExpiration(10, of: "x")
            try writer.setExpiration(20, of: "y")
            try writer.setExpiration(5, of: "z")
            try writer.setExpiration(nil, of: "z")
        }
        report.expect(try engine.read { try $0.setting("a") } == "é", "the last value of a setting is read")
        report.expect(try engine.read { try $0.setting("b") } == nil, "a cleared setting is gone")
        report.expect(try engine.read { try $0.expiration(of: "x") } == 10, "the last date is read")
        report.expect(try engine.read { try $0.expiration(of: "z") } == nil, "a cleared date is gone")
        let due = try engine.read { try $0.sideRecords(.expirations(through: 20), limit: 9) }
        report.expect(
            due == [.expiration(of: "x", at: 10), .expiration(of: "y", at: 20)],
            "dates come earliest first, through one")
        report.expect(
            try engine.read { try $0.expirations(through: 19, limit: 9).count } == 1, "later ones are left out")
        report.expect(try engine.read { try $0.expirations(through: 99, limit: 1).count } == 1, "a limit is kept")
        func listed(_ scan: SideRecord.Scan, limit: Int = 9) throws -> [SideRecord] {
            try engine.read { try $0.sideRecords(scan, limit: limit) }
        }
        let dates: [SideRecord] = [.expiration(of: "x", at: 10), .expiration(of: "y", at: 20)]
        report.expect(try listed(.expirationsByID(after: nil)) == dates, "dates are listed by id")
        report.expect(try listed(.expirationsByID(after: "x")) == [dates[1]], "and listing goes on after an id")
        try engine.hold { for name in ["é", "B", "c"] { try $0.setSetting(name, to: "3") } }
        let names = ["B", "a", "c", "é"]
        report.expect(
            try listed(.settings(after: nil)) == names.map { .setting(name: $0, value: $0 == "a" ? "é" : "3") },
            "settings are listed by the bytes of their names")
        report.expect(
            try listed(.settings(after: "a"), limit: 1) == [.setting(name: "c", value: "3")],
            "and listing goes on after a name")
    }

    static func maintenance(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let engine = engine as? any MaintainedStorage else { return }
        try engine.hold { writer in for id: DocumentID in ["a", "b"] { _ = try writer.apply(.insert(record(id))) } }
        _ = try engine.maintain(.reclaimSpace)
        report.expect(try engine.maintain(.check).problems == [], "an engine that was used well has no problems")
        report.expect(try engine.read { try $0.counts().live } == 2, "nothing is lost when space is given back")
        let size = try engine.maintain(.measure)
        report.expect(size.bytes >= size.freeBytes && size.freeBytes >= 0, "what is free is a part of the size")
        let weight = try engine.maintain(.weigh).payload
        report.expect(weight.winners == 2 * Int64("{\"v\":1}".utf8.count), "the bodies of winners are added up")
    }

    static func closing(_ engine: any StorageEngine, _ report: inout Report) throws {
        _ = try engine.hold { try $0.apply(.insert(record("a"))) }
        engine.close()
        engine.close()
        let calls: [(String, () throws -> Void)] = [
            ("read", { _ = try engine.read { try $0.lastSequence } }), ("snapshot", { try engine.snapshot { _ in } }),
            ("hold", { try engine.hold { _ in } }), ("commit", { try engine.commit { _ in } }),
        ]
        for (name, call) in calls {
            do {
                try call()
                report.expect(false, "\(name) works after closing")
            } catch { report.expect((error as? DatabaseError)?.code == .closed, "\(name) throws closed, not \(error)") }
        }
    }
}
