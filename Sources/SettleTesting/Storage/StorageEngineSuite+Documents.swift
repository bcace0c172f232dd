internal import Settle
import SettleDatabase

extension StorageEngineSuite {
    static func records(_ engine: any StorageEngine, _ report: inout Report) throws {
        let written = try record("é\u{0}", body: ["z": 1, "a": [1.5, "ü"]])
        let sequence = try engine.hold { try $0.apply(.insert(written)) }
        report.expect(sequence == 1, "the first sequence is 1, not \(String(describing: sequence))")
        let found = try engine.read { try $0.record(of: "é\u{0}", withContent: true) }
        report.expect(found?.tree == written.tree, "a tree is read as it was written")
        report.expect(found?.content == written.content, "a content is read as it was written")
        report.expect(found?.sequence == 1, "a record knows its sequence")
        let head = try engine.read { try $0.record(of: "é\u{0}", withContent: false) }
        report.expect(head?.tree == written.tree && head?.content == nil, "a content is left out unless asked for")
        report.expect(try engine.read { try $0.record(of: "e", withContent: true) } == nil, "an unknown id is nil")
        var changed = try record("é\u{0}", ["2-b"], body: .empty)
        let second = try engine.hold { try $0.put(at(1, changed)) }
        report.expect(second == 2, "a rewritten record gets the next sequence")
        report.expect(try engine.read { try $0.counts().live } == 1, "a rewritten record replaces the old one")
        changed.sequence = second
        changed.tree.markShared(try RevisionID(validating: "2-b"))
        try engine.hold { try $0.updateTree(of: changed) }
        let updated = try engine.read { try $0.record(of: changed.id, withContent: true) }
        report.expect(updated?.tree == changed.tree && updated?.sequence == 2, "a tree alone can be replaced")
        report.expect(updated?.content == changed.content, "a content stays when the tree is replaced")
        let stale = at(7, changed)
        let refused = try engine.hold { writer in
            try [.insert(changed), .update(stale), .updateTree(stale), .remove(stale)].allSatisfy {
                try writer.apply($0) == nil
            }
        }
        report.expect(refused, "a change of another document than the stored one is refused")
        let untouched = try engine.read { try ($0.lastSequence, $0.count(.documents(DocumentRange()))) }
        report.expect(untouched == (2, 1), "and changes nothing")
    }

    static func order(_ engine: any StorageEngine, _ report: inout Report) throws {
        let ids: [DocumentID] = ["b", "B", "a", "\u{10000}", "\u{ffff}", "é"]
        try engine.hold { writer in
            for id in ids { _ = try writer.apply(.insert(record(id))) }
            _ = try writer.put(at(1, record("b", ["2-b"], isDeleted: true)))
        }
        let sorted: [DocumentID] = ["B", "a", "b", "é", "\u{ffff}", "\u{10000}"]
        func found(_ range: DocumentRange, limit: Int = 100) throws -> [DocumentID] {
            try engine.read { try $0.records(in: range, limit: limit, withContent: false).map(\.id) }
        }
        report.expect(try found(DocumentRange()) == sorted, "ids come in the order of their bytes, deleted ones too")
        report.expect(try found(DocumentRange(descending: true)) == sorted.reversed(), "descending is the reverse")
        report.expect(try found(DocumentRange(from: "a", through: "b")) == ["a", "b"], "bounds are included")
        report.expect(try found(DocumentRange(after: "a", before: "é")) == ["b"], "after and before are not")
        report.expect(try found(DocumentRange(), limit: 2) == ["B", "a"], "a limit is kept")
        func changed(_ range: SequenceRange, limit: Int = 100) throws -> [Int64] {
            try engine.read { try $0.records(changedIn: range, limit: limit, withContent: true).map(\.sequence.number) }
        }
        report.expect(try changed(SequenceRange()) == [2, 3, 4, 5, 6, 7], "changes come by sequence, each record once")
        report.expect(try changed(SequenceRange(descending: true), limit: 2) == [7, 6], "and backwards")
        report.expect(try changed(SequenceRange(after: 3, through: 5)) == [4, 5], "after is left out, through is not")
        let counts = try engine.read { try $0.counts() }
        report.expect(counts == DocumentCounts(live: 5, deleted: 1), "live and deleted documents are counted apart")
        func count(_ scan: DocumentScan) throws -> Int { try engine.read { try $0.count(scan) } }
        report.expect(try count(.documents(DocumentRange(from: "a", before: "é"))) == 2, "a range of ids is counted")
        report.expect(try count(.deleted(DocumentRange(before: "b"))) == 0, "deleted documents of a range are counted")
        report.expect(try count(.changes(SequenceRange(after: 2, through: 4))) == 2, "a range of changes is counted")
        report.expect(
            try count(.live(DocumentRange(after: "a", through: "é"))) == 1, "live documents are counted alone")
        let live = try engine.read { try $0.ids(.live(DocumentRange(descending: true)), limit: 4) }
        report.expect(
            live == ["\u{10000}", "\u{ffff}", "é", "a"], "live documents are listed without the deleted ones")
        func place(_ place: Int, _ range: DocumentRange) throws -> DocumentID? {
            try engine.read { try $0.liveID(at: place, in: range) }
        }
        report.expect(try place(1, DocumentRange(from: "a")) == "é", "a live document is found by its place")
        report.expect(
            try place(0, DocumentRange(before: "é", descending: true)) == "a", "and by its place from the end")
        report.expect(try place(2, DocumentRange(through: "b")) == nil, "no document is past the last")
        func skipped(_ scan: DocumentScan, _ count: Int) throws -> [DocumentID] {
            try engine.read { try $0.ids(scan, skipping: count, limit: 2) }
        }
        report.expect(try skipped(.live(DocumentRange()), 2) == ["é", "\u{ffff}"], "live documents are skipped")
        report.expect(
            try skipped(.live(DocumentRange(descending: true)), 3) == ["a", "B"], "and those at the end of a range")
        report.expect(try skipped(.documents(DocumentRange(from: "a")), 1) == ["b", "é"], "and documents of all kinds")
        report.expect(try skipped(.changes(SequenceRange(after: 2)), 4) == ["b"], "and changes")
        let deleted = try engine.read { try $0.records(.deleted(DocumentRange()), limit: 9, withContent: true) }
        report.expect(deleted.map(\.id) == ["b"] && deleted[0].content != nil, "deleted documents are found")
    }

    /// Enough documents that an engine may keep sums, and changes of all kinds between two counts.
    static func manyCounts(_ engine: any StorageEngine, _ report: inout Report) throws {
        func id(_ number: Int) -> DocumentID { DocumentID(unchecked: String(number + 10_000)) }
        try engine.hold { writer in
            for number in 0..<3000 { _ = try writer.apply(.insert(record(id(number)))) }
        }
        try engine.hold { writer in
            for number in stride(from: 0, to: 3000, by: 3) {
                guard let found = try writer.record(of: id(number), withContent: false) else { continue }
                switch number % 2 {
                case 0: try writer.remove(found)
                default: try writer.put(at(found.sequence, record(id(number), ["2-b"], isDeleted: true)))
                }
            }
        }
        func count(_ scan: DocumentScan) throws -> Int { try engine.read { try $0.count(scan) } }
        let all = DocumentRange()
        report.expect(try count(.live(all)) == 2000 && count(.deleted(all)) == 500, "many documents are counted")
        let part = DocumentRange(from: id(600), before: id(1200))
        report.expect(try count(.live(part)) == 400 && count(.deleted(part)) == 100, "and those of a range")
        report.expect(try count(.changes(SequenceRange(after: 1500))) == 1500, "and changes after one")
        report.expect(try engine.read { try $0.liveID(at: 1000, in: all) } == id(1501), "and one is found by its place")
    }

    static func removal(_ engine: any StorageEngine, _ report: inout Report) throws {
        try engine.hold { writer in
            for id: DocumentID in ["a", "b"] { _ = try writer.apply(.insert(record(id))) }
        }
        // The newest record is removed in a separate write: the sequence must not go back.
        try? engine.hold { _ in throw DatabaseError(.storage, "on purpose") }
        if let newest = try engine.read({ try $0.record(of: "b", withContent: true) }) {
            try engine.hold { try $0.remove(newest) }
        }
        report.expect(try engine.read { try $0.record(of: "b", withContent: false) } == nil, "a removed record is gone")
        report.expect(try engine.read { try $0.lastSequence } == 3, "a removal moves the sequence on")
        let next = try engine.hold { try $0.apply(.insert(record("c"))) }
        report.expect(next == 4, "no sequence is used twice, but \(String(describing: next)) is")
    }

    static func contents(_ engine: any StorageEngine, _ report: inout Report) throws {
        let written = RevisionContent(body: ["v": [1, "é"]])
        let tokens = try engine.hold { writer in try (0..<3).map { _ in try writer.putContent(written) } }
        report.expect(Set(tokens).count == 3, "each content has a token of its own")
        report.expect(tokens.allSatisfy { $0 >= BodyToken.firstApart }, "tokens begin at BodyToken.firstApart")
        report.expect(try engine.read { try $0.content(at: tokens[0]) } == written, "a content is read as written")
        try engine.hold { try $0.removeContent(at: tokens[1]) }
        report.expect(try engine.read { try $0.content(at: tokens[1]) } == nil, "a removed content is gone")
        let kept = try engine.read { try $0.contentTokens(after: 0, limit: 10) }
        report.expect(kept == [tokens[0], tokens[2]].sorted(), "the tokens kept are listed, ascending")
        let newest = try engine.read { try $0.newestContentToken() }
        report.expect(newest == tokens[2], "the newest token comes first if asked for")
        let rest = try engine.read { try $0.contentTokens(after: kept[0], limit: 10) }
        report.expect(rest == Array(kept.dropFirst()), "listing goes on after a token")
        for token in [BodyToken.none, BodyToken.record, UInt64.max] {
            report.expect(try engine.read { try $0.content(at: token) } == nil, "token \(token) has no content")
            try engine.hold { try $0.removeContent(at: token) }
        }
    }

    static func conflicts(_ engine: any StorageEngine, _ report: inout Report) throws {
        try engine.hold { writer in
            for id: DocumentID in ["c", "a", "b"] { _ = try writer.apply(.insert(record(id, ["1-a", "1-b"]))) }
            _ = try writer.apply(.insert(record("d")))
            _ = try writer.apply(.insert(record("e", ["1-a", "1-b"], isDeleted: true)))
            _ = try writer.put(at(3, record("b", ["2-b"])))
        }
        func found(_ range: DocumentRange = DocumentRange(), limit: Int = 9) throws -> [DocumentID] {
            try engine.read { try $0.ids(.conflicted(.branches, range), limit: limit) }
        }
        report.expect(try found() == ["a", "c"], "exactly the documents with two live leaves are conflicted")
        report.expect(try found(DocumentRange(after: "a")) == ["c"], "listing goes on")
        report.expect(try found(limit: 1) == ["a"], "a limit is kept")
        report.expect(try found(DocumentRange(descending: true)) == ["c", "a"], "and comes descending")
        let count = try engine.read { try $0.count(.conflicted(.branches, DocumentRange())) }
        report.expect(count == 2, "conflicts are counted")
        let changed = try engine.read { try $0.ids(.changes(SequenceRange(after: 4)), limit: 9) }
        report.expect(changed == ["e", "b"], "ids come in the order of changes too")
    }
}

// MARK: - Large Contents

extension StorageEngineSuite {
    /// Checks the storage of large contents, if the engine has one.
    static func largeContents(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let blobs = (engine as? any BlobKeepingStorage)?.blobs,
            let digest = BlobDigest([UInt8](repeating: 7, count: 32))
        else { return }
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        func record(_ place: [UInt8]?) -> BlobRecord {
            BlobRecord(
                digest: digest, md5: [UInt8](repeating: 1, count: 16), length: Int64(bytes.count), content: nil,
                isFile: true, place: place)
        }
        func put(_ place: [UInt8]?) throws { try engine.hold { try $0.put(.blob(record(place))) } }
        func read(_ place: [UInt8]?, from offset: Int) throws -> [UInt8] {
            let reader = try blobs.open(record(place), from: Int64(offset))
            var all: [UInt8] = []
            while case let piece = try reader.read(upTo: 100_000), !piece.isEmpty { all += piece }
            return all
        }
        func collect() throws {
            try blobs.collect(
                row: { digest in try engine.read { try $0.blob(digest) } },
                hold: { remove in try engine.hold { writer in try remove { try writer.blob($0) } } })
        }
        let first = try write(bytes, as: digest, to: blobs)
        report.expect(blobs.has(record(first.place)), "a finished content is there")
        try collect()
        report.expect(try read(first.place, from: 0) == bytes, "a pinned content is read as it was written")
        for offset in [1, 262_143, 262_144, 524_289, bytes.count] {
            let rest = Array(bytes[offset...])
            report.expect(try read(first.place, from: offset) == rest, "and from \(offset) on")
        }
        try put(first.place)
        report.expect(try engine.read { try $0.blob(digest) } == record(first.place), "its row names its place")
        let second = try write(bytes, as: digest, to: blobs)
        try put(second.place)
        report.expect(
            try engine.read { try $0.blob(digest) }?.place == first.place, "the row of a content stays as it is")
        report.expect(try blobs.sizeOnDisk() >= Int64(bytes.count), "the size of stored contents is known")
        try withExtendedLifetime((first, second)) { try collect() }
        report.expect(try read(first.place, from: 0) == bytes, "a content that a row names is not collected")
        guard first.place != nil else { return }
        try engine.hold { try $0.remove(.blob(digest)) }
        do {
            try put([0])
            report.expect(false, "a row names a place that nothing pins")
        } catch let error as DatabaseError where error.code == .attachmentMissing {}
        report.expect(try engine.read { try $0.blob(digest) } == nil, "a row that is refused is not there")
    }

    private static func write(
        _ bytes: [UInt8], as digest: BlobDigest, to blobs: any BlobStorage
    ) throws -> FinishedBlob {
        let writer = try blobs.newBlob()
        for start in stride(from: 0, to: bytes.count, by: 90_001) {
            try bytes[start..<min(start + 90_001, bytes.count)].withUnsafeBytes { try writer.write($0) }
        }
        return try writer.finish(as: digest)
    }
}
