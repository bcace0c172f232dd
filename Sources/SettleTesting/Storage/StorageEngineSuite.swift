public import Settle
import SettleDatabase
internal import SettlePlatform

/// The contract of every storage engine, as checks that need no test framework.
///
///     let failures = StorageEngineSuite.run { try MyEngine(folder: newFolder()) }
///     print(failures.isEmpty ? "passed" : failures.joined(separator: "\n"))
///
/// Each check gets a new, empty engine. The checks cover the promises of ``StorageEngine``: that writes are atomic
/// and nest, that sequences rise and are never reused, that reads find what was written, in order, that a snapshot
/// sees one state, and that listeners are notified after each commit. The capabilities ``BlobKeepingStorage``,
/// ``JournalStorage``, ``RestorableStorage``, ``MaintainedStorage`` and ``LimitedStorage`` are checked if an engine
/// has them.
public enum StorageEngineSuite {
    /// Runs all checks.
    ///
    /// - Parameters:
    ///   - readsWait: Whether the engine's reads and writes wait for each other, which is allowed.
    ///   - make: Creates a new, empty engine.
    /// - Returns: A line for each failed check; empty for a good engine.
    public static func run(readsWait: Bool = false, _ make: () throws -> any StorageEngine) -> [String] {
        run(readsWait: readsWait, patience: 300, make)
    }

    /// Runs all checks with another time limit, in seconds, for the writes that must not wait.
    package static func run(
        readsWait: Bool = false, patience: Double, _ make: () throws -> any StorageEngine
    ) -> [String] {
        let checks = checks + (readsWait ? [] : [("snapshots", { try snapshots($0, patience, &$1) })])
        return checks.flatMap { name, check in
            do {
                let engine = try make()
                defer { engine.close() }
                var report = Report()
                try check(engine, &report)
                return report.failures.map { "\(name): \($0)" }
            } catch { return ["\(name): \(error)"] }
        }
    }

    /// The result of one check.
    struct Report {
        private(set) var failures: [String] = []

        mutating func expect(_ isTrue: Bool, _ what: String) {
            if !isTrue { failures.append(what) }
        }
    }

    private typealias Check = (any StorageEngine, inout Report) throws -> Void

    private static var checks: [(String, Check)] {
        [
            ("records", records), ("order", order), ("many counts", manyCounts), ("rollback", rollback),
            ("parts", parts), ("removal", removal),
            ("contents", contents), ("conflicts", conflicts), ("local documents", locals), ("blobs", blobs),
            ("large contents", largeContents), ("restoring", restoring), ("restored contents", restoredContents),
            ("restored counts", restoredCounts), ("long ids", longIDs),
            ("settings", settings), ("journal", journal), ("actions after a commit", commitActions),
            ("commits", commits), ("threads", threads),
            ("maintenance", maintenance), ("closing", closing),
        ]
    }

    /// A record of one revision.
    static func record(
        _ id: DocumentID, _ revisions: [String] = ["1-a"], isDeleted: Bool = false, body: DocumentBody = ["v": 1]
    ) throws -> DocumentRecord {
        var tree = RevisionTree()
        for text in revisions {
            tree.insert(RevisionHistory(try RevisionID(validating: text)), isDeleted: isDeleted)
        }
        if let winner = tree.winner { tree.setBodyToken(BodyToken.record, of: winner.revision) }
        return DocumentRecord(id: id, sequence: 0, tree: tree, content: RevisionContent(body: body))
    }

    /// A record that replaces the one at a sequence.
    static func at(_ sequence: UpdateSequence, _ record: DocumentRecord) -> DocumentRecord {
        var record = record
        record.sequence = sequence
        return record
    }
}

extension StorageEngineSuite {
    static func journal(_ engine: any StorageEngine, _ report: inout Report) throws {
        guard let keeper = engine as? any JournalStorage else { return }
        let revision = try RevisionID(validating: "1-a")
        func entry(
            _ id: DocumentID, _ old: StoredJournalEntry.Content, _ new: StoredJournalEntry.Content
        ) -> StoredJournalEntry {
            StoredJournalEntry(number: 0, documentID: id, revision: revision, old: old, new: new, time: 7)
        }
        func given(_ body: DocumentBody) -> StoredJournalEntry.Content { .given(RevisionContent(body: body)) }
        var entries = [
            entry("a", .none, given(["v": 1])), entry("b", given(["v": 1]), .kept), entry("a", .kept, .none),
        ]
        let numbers: [Int64] = [3, 5, 8]
        for index in entries.indices { entries[index].number = numbers[index] }
        try engine.hold { writer in for entry in entries { try writer.put(.journal(entry)) } }
        report.expect(
            try engine.read { try $0.journalEntries(after: 0, limit: 9) } == entries, "entries are read as written")
        let rest = try engine.read { try $0.journalEntries(after: numbers[0], limit: 1) }
        report.expect(rest == [entries[1]], "listing goes on after a number")
        let newest = try engine.read { try $0.newestJournalEntries(limit: 2) }
        report.expect(newest == [entries[2], entries[1]], "the newest come last first")
        report.expect(try engine.read { try $0.journalEntry(5) } == entries[1], "an entry is found by its number")
        report.expect(try engine.read { try $0.journalEntry(4) } == nil, "a number may have none")
        entries[1].time = 9
        entries[1].new = given(["v": 2])
        try engine.hold { writer in
            try writer.put(.journal(entries[1]))
            try writer.remove(.journal(numbers[0]))
        }
        let left = try engine.read { try $0.journalEntries(after: 0, limit: 9) }
        report.expect(left == Array(entries[1...]), "an entry is replaced, another removed")
        try engine.hold { _ in try keeper.removeJournal() }
        report.expect(try engine.read { try $0.newestJournalEntries(limit: 9) }.isEmpty, "the journal is emptied")
        report.expect(try engine.read { try $0.lastSequence } == 0, "the journal takes no sequence")
    }

    static func commitActions(_ engine: any StorageEngine, _ report: inout Report) throws {
        struct Undone: Error {}
        let done = Guarded<[Int]>([])
        func act(_ number: Int, _ writer: any StorageWriter) {
            writer.afterCommit { done.withLock { $0.append(number) } }
        }
        try engine.hold { writer in
            act(1, writer)
            try? writer.part {
                act(2, writer)
                throw Undone()
            }
            act(3, writer)
            report.expect(done.withLock { $0 }.isEmpty, "nothing is done before the commit")
        }
        report.expect(done.withLock { $0 } == [1, 3], "what was undone is not done after the commit")
        do {
            try engine.hold { writer in
                act(4, writer)
                throw Undone()
            }
        } catch is Undone {}
        try engine.hold { act(5, $0) }
        report.expect(done.withLock { $0 } == [1, 3, 5], "what was rolled back is never done")
    }
}
