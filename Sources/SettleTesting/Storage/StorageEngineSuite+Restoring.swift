internal import Settle
import SettleDatabase

extension StorageEngineSuite {
    /// The writes of a copy, which keeps the positions and tokens of its source.
    static func restoring(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let engine = engine as? any RestorableStorage else { return }
        let first = try record("b", ["2-b"], body: ["v": [1, "é"]])
        try engine.hold { _ in
            try engine.restore(at(7, first))
            try engine.restore(at(9, record("a", isDeleted: true)))
        }
        let found = try engine.read { try $0.record(of: "b", withContent: true) }
        report.expect(
            found?.sequence == 7 && found?.tree == first.tree && found?.content == first.content,
            "a restored document is read as it was written, with its sequence")
        report.expect(try engine.read { try $0.lastSequence } == 9, "the newest sequence is the last one restored")
        let changes = try engine.read { try $0.ids(.changes(SequenceRange(after: 6)), limit: 9) }
        report.expect(changes == ["b", "a"], "restored documents are in the order of changes")
        report.expect(
            try engine.read { try $0.counts() } == DocumentCounts(live: 1, deleted: 1),
            "restored documents are counted")
        for (number, id) in [(9, "c"), (3, "c"), (12, "b")] as [(Int64, DocumentID)] {
            do {
                try engine.hold { _ in try engine.restore(at(UpdateSequence(number), record(id))) }
                report.expect(false, "\"\(id)\" was restored at \(number)")
            } catch let error as DatabaseError {
                let code = id == "b" ? "conflict" : "invalid"
                report.expect(error.code.name == code, "\"\(id)\" at \(number) is refused as \(code), not \(error)")
            }
        }
        report.expect(try engine.read { try $0.lastSequence } == 9, "what is refused changes nothing")
        report.expect(try engine.hold { try $0.apply(.insert(record("c"))) } == 10, "sequences go on behind them")
        try engine.hold { _ in try engine.restoreSequence(100) }
        report.expect(try engine.read { try $0.lastSequence } == 100, "the newest sequence is restored")
        do {
            try engine.hold { _ in try engine.restoreSequence(99) }
            report.expect(false, "the newest sequence went back")
        } catch let error as DatabaseError where error.code.name == "invalid" {}
        report.expect(try engine.hold { try $0.apply(.insert(record("d"))) } == 101, "sequences go on behind it")
        report.expect(try problems(of: engine) == [], "restored documents leave no problems")
    }

    static func restoredContents(_ engine: any StorageEngine, _ report: inout Report) throws {
        let written = RevisionContent(body: ["v": [1, "é"]])
        try engine.hold { writer in
            try writer.put(.content(5, written))
            try writer.put(.content(90, written))
        }
        let kept = try engine.read { try ($0.contentTokens(after: 0, limit: 9), $0.content(at: 90)) }
        report.expect(kept.0 == [5, 90] && kept.1 == written, "a restored content is read by its token")
        let next = try engine.hold { try $0.putContent(written) }
        report.expect(next > 90, "a new token is above the restored ones, and not \(next)")
        for (token, code) in [(90, "conflict"), (BodyToken.record, "invalid"), (UInt64.max, "invalid")] {
            do {
                try engine.hold { try $0.put(.content(token, written)) }
                report.expect(false, "a content was restored at the token \(token)")
            } catch let error as DatabaseError {
                report.expect(error.code.name == code, "the token \(token) is refused as \(code), not \(error)")
            }
        }
    }

    /// Many restored documents with gaps between their sequences, followed by ordinary changes.
    static func restoredCounts(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let engine = engine as? any RestorableStorage else { return }
        func id(_ number: Int) -> DocumentID { DocumentID(unchecked: String(number * 7919 % 10_000 + 10_000)) }
        try engine.hold { _ in
            for number in 1...1500 {
                // There is a wide gap after every hundredth.
                let sequence = Int64(number * 3 + (number - 1) / 100 * 20_000)
                try engine.restore(at(UpdateSequence(sequence), record(id(number), isDeleted: number % 5 == 0)))
            }
        }
        try? engine.hold { _ in
            try engine.restore(at(9_000_000, record("undone")))
            throw DatabaseError(.storage, "on purpose")
        }
        let newest = Int64(1500 * 3 + 14 * 20_000)
        func counted() throws -> [Int] {
            try engine.read { reader in
                try [
                    reader.count(.live(DocumentRange())), reader.count(.deleted(DocumentRange())),
                    reader.count(.changes(SequenceRange(after: UpdateSequence(newest - 31)))),
                    reader.count(.changes(SequenceRange(after: 0, through: 30_000))),
                ]
            }
        }
        report.expect(try counted() == [1200, 300, 11, 200], "restored documents are counted, by position too")
        try engine.hold { writer in
            for number in stride(from: 1, through: 1500, by: 3) {
                guard let found = try writer.record(of: id(number), withContent: false) else { continue }
                if number % 2 == 0 {
                    try writer.remove(found)
                } else {
                    try writer.put(at(found.sequence, record(id(number), ["2-b"])))
                }
            }
        }
        let now = try counted()
        report.expect(now[0] + now[1] == 1250 && now[3] == 133, "changes of restored documents are counted")
        report.expect(try problems(of: engine) == [], "and leave no problems")
    }

    private static func problems(of engine: any StorageEngine) throws -> [String] {
        try (engine as? any MaintainedStorage)?.maintain(.check).problems ?? []
    }

    static func longIDs(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let longest = (engine as? any LimitedStorage)?.longestID else { return }
        let id = DocumentID(unchecked: String(repeating: "é", count: longest / 2))
        _ = try engine.hold { try $0.apply(.insert(record(id))) }
        report.expect(
            try engine.read { try $0.record(of: id, withContent: false) } != nil, "the longest id is stored")
        do {
            _ = try engine.hold { try $0.apply(.insert(record(DocumentID(unchecked: "\(id)éé")))) }
            report.expect(false, "an id that is too long is stored")
        } catch let error as DatabaseError where error.code.name == "invalid" {}
        let local = DocumentID(unchecked: "_local/" + String(repeating: "é", count: longest / 2))
        do {
            try engine.commit { try $0.put(LocalDocument(id: local, revisionNumber: 1, body: .empty)) }
            report.expect(false, "a local document with an id that is too long is stored")
        } catch let error as DatabaseError where error.code.name == "invalid" {}
    }
}
