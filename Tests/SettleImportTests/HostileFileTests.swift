import Foundation
import SettleCore
import SettleCrypto
import SettleTesting
import Testing

@testable import SettleImport

/// Truncated and changed copies of files never crash, and never give an attachment whose content is not the one that was stored.
@Suite struct HostileFileTests {
    /// A folder with a database, whose files are to be damaged.
    struct Victim: CustomStringConvertible, Sendable {
        let folder: String
        /// The file that is given to the reader, inside the folder.
        let path: String
        var description: String { folder }
    }

    static let victims = [
        Victim(folder: "cbl1/ios104", path: "iosdb.cblite"), Victim(folder: "cbl1/ios110", path: "iosdb.cblite"),
        Victim(folder: "cbl1/ios120", path: "iosdb.cblite2"), Victim(folder: "cbl1/ios130", path: "iosdb.cblite2"),
        Victim(folder: "cbl1/ios140", path: "iosdb.cblite2"),
        Victim(folder: "cbl1/android104", path: "androiddb.cblite"),
        Victim(folder: "cbl1/android110", path: "androiddb.cblite"),
        Victim(folder: "cbl1/android120", path: "androiddb.cblite2"),
        Victim(folder: "cbl1/android130", path: "androiddb.cblite2"),
        Victim(folder: "cbl1-made/edge.cblite2", path: ""),
        Victim(folder: "cdt", path: "schema100_1Bonsai_2Lorem.touchdb"),
        Victim(folder: "cdt", path: "schema6to7upgrade.touchdb"),
        Victim(folder: "sync-android/datastores-user_version6/datastores/testdb", path: ""),
        Victim(folder: "sync-android/legacy_database_with_indexes/AbstractQueryTestBase", path: ""),
        Victim(folder: "cblite2-made/tree.cblite2", path: ""),
        Victim(folder: "cblite2-made/tree-with-wal.cblite2", path: ""),
        Victim(folder: "cblite2-made/vv.cblite2", path: ""), Victim(folder: "pouchdb-websql-made", path: "_pouch_fix"),
    ]

    @Test(.enabled(if: FixtureFiles.has("cbl1")), arguments: victims)
    func `a damaged copy is read or refused`(victim: Victim) throws {
        let made = try MadeDatabase()
        let copy = made.folder.appending(path: "copy")
        try FileManager.default.copyItem(at: FixtureFiles.url(victim.folder), to: copy)
        let files = FileManager.default.enumerator(at: copy, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
        let damaged = (files ?? []).filter { (try? FixtureFiles.bytes($0).isEmpty) == false }
            .sorted { $0.path < $1.path }
        let given = victim.path.isEmpty ? copy : copy.appending(path: victim.path)
        for seed in 0..<UInt64(40) {
            var numbers = SeededRandom(seed: seed)
            // The database itself more often than the contents beside it.
            let databases = damaged.filter { !$0.pathExtension.contains("blob") && !$0.path.contains("com.cloudant") }
            let pool = numbers.below(4) == 0 || databases.isEmpty ? damaged : databases
            let file = pool[numbers.below(pool.count)]
            let original = try FixtureFiles.bytes(file)
            var bytes = original
            if numbers.below(3) == 0 {
                bytes = Array(bytes.prefix(numbers.below(bytes.count)))
            } else {
                for _ in 0...numbers.below(12) {
                    // The pages in use are at the beginning as a rule.
                    let bound = numbers.below(2) == 0 ? min(bytes.count, 8192) : bytes.count
                    bytes[numbers.below(bound)] ^= UInt8(1 << numbers.below(8))
                }
            }
            try Data(bytes).write(to: file)
            defer { try? Data(original).write(to: file) }
            try read(given, "seed \(seed) of \(victim)")
        }
    }

    /// Reads all that is there. Every error is one that is meant for people.
    private func read(_ url: URL, _ name: String) throws {
        do {
            guard let reader = try ForeignSQLite.reader(at: url) else { return }
            try? reader.check()
            for collection in reader.collections {
                _ = try reader.count(in: collection)
                for document in try reader.documents(in: collection) {
                    for leaf in document.leaves + document.bases {
                        #expect((try? JSONValue(utf8: leaf.body.utf8))?.object != nil, "\(name)")
                        for attachment in leaf.attachments { _ = try reader.isWhole(attachment) }
                    }
                }
            }
            _ = try reader.localDocuments()
        } catch let error as ForeignFileError {
            #expect(!error.message.isEmpty, "\(name)")
        } catch { Issue.record("\(name): \(error)") }
    }

    @Test(arguments: 0..<40) func `a damaged database that was made here is read or refused`(seed: UInt64) throws {
        var numbers = SeededRandom(seed: seed)
        let made = try MadeDatabase()
        let url: URL
        if numbers.below(2) == 0 {
            let rows = (1...30).flatMap { number in
                [
                    MadeDatabase.document(number, "d\(number)"),
                    MadeDatabase.row(number, "1-a", #"{"v":"\#(number)"}"#),
                    MadeDatabase.row(number, "2-a", parent: 2 * number - 1, #"{"v":"\#(number) again"}"#),
                ]
            }
            url = try made.sqlite("a.cblite", version: 102, MadeDatabase.schemaOf1 + rows)
        } else {
            let rows = (1...30).map { number in
                MadeDatabase.row(
                    "d\(number)", sequence: number, version: MadeDatabase.binary("2-bb"),
                    body: FleeceWriter.write(numbers.object(depth: 3)),
                    extra: MadeDatabase.tree(
                        [
                            .init(id: "2-bb", parent: 1),
                            .init(id: "1-aa", body: FleeceWriter.write(numbers.object(depth: 2))),
                            .init(id: "2-cc", parent: 1, body: FleeceWriter.write(numbers.object(depth: 2))),
                        ], remotes: [(1, 2)]))
            }
            url = try made.sqlite("a.cblite2/db.sqlite3", version: 500, MadeDatabase.schemaOf3() + rows)
        }
        let original = try FixtureFiles.bytes(url)
        for _ in 0..<10 {
            var bytes = original
            for _ in 0...numbers.below(20) { bytes[numbers.below(bytes.count)] ^= UInt8(1 << numbers.below(8)) }
            if numbers.below(4) == 0 { bytes = Array(bytes.prefix(numbers.below(bytes.count))) }
            try Data(bytes).write(to: url)
            try read(url, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<300) func `a damaged tree is a tree or an error`(seed: UInt64) {
        var numbers = SeededRandom(seed: seed)
        var bytes = MadeDatabase.tree(
            (0..<1 + numbers.below(6)).map { index in
                .init(
                    id: "\(index + 1)-\(String(repeating: "ab", count: 1 + numbers.below(20)))",
                    parent: index > 0 ? index - 1 : nil, body: numbers.below(2) == 0 ? [0x70, 0] : nil, sequence: index)
            }, remotes: [(1, 0)])
        for _ in 0..<numbers.below(4) { bytes[numbers.below(bytes.count)] ^= UInt8(1 << numbers.below(8)) }
        guard let tree = try? LiteCoreTree(bytes) else { return }
        #expect(!tree.records.isEmpty && tree.remotes.values.allSatisfy(tree.records.indices.contains), "seed \(seed)")
    }

    @Test func `many branches of long histories take bounded memory`() throws {
        var revisions: [MadeDatabase.TreeRevision] = []
        for index in 0..<4_000 {
            revisions.append(.init(id: "\(4_001 - index)-aa", parent: index < 3_999 ? index + 1 : nil))
        }
        revisions += (0..<4_000).map {
            .init(id: "4002-\(String(0x1_0000 + $0, radix: 16))0", parent: 0, body: [0x70, 0])
        }
        let made = try MadeDatabase()
        try made.sqlite(
            "a.cblite2/db.sqlite3", version: 500,
            MadeDatabase.schemaOf3() + [
                MadeDatabase.row(
                    "a", sequence: 1, version: MadeDatabase.binary("4002-100000"), body: [0x70, 0],
                    extra: MadeDatabase.tree(revisions))
            ])
        let document = try #require(try ForeignSQLite.reader(at: made.folder)?.documents().first)
        #expect(document.leaves.count == 4_000)
        #expect(document.leaves.map(\.history.signatures.count).reduce(0, +) <= 4_000_000)
    }
}
