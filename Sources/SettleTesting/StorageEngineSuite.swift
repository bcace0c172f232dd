public import Settle

/// The contract of every storage engine, as checks that need no test framework.
///
///     let failures = StorageEngineSuite.run { try MyEngine(folder: newFolder()) }
///     print(failures.isEmpty ? "passed" : failures.joined(separator: "\n"))
///
/// Each check gets a new, empty engine. The checks cover the promises of ``StorageEngine``: that writes are atomic
/// and nest, that sequences rise and are never reused, that reads find what was written, in order, that a snapshot
/// sees one state, and that listeners are notified after each commit.
public enum StorageEngineSuite {
    /// Runs all checks.
    ///
    /// - Parameter make: Creates a new, empty engine.
    /// - Returns: A line for each check that failed; none for a good engine.
    public static func run(_ make: () throws -> any StorageEngine) -> [String] {
        checks.flatMap { name, check in
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
            ("records", records), ("order", order), ("rollback", rollback), ("parts", parts), ("removal", removal),
            ("contents", contents), ("conflicts", conflicts), ("local documents", locals), ("blobs", blobs),
            ("settings", settings), ("journal", journal), ("actions after a commit", commitActions),
            ("snapshots", snapshots), ("commits", commits), ("threads", threads),
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
