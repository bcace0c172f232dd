import Foundation
import Settle
import SettleCore
import SettleCrypto
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleImport

/// A process that migrates a database at its start is killed at any time, and begins again at its next start.
@Suite(.timeLimit(.minutes(10))) struct MigrationKillTests {
    private static let count = 600
    private static let rounds = 8

    private let made: MadeDatabase
    private let source: URL

    init() throws {
        made = try MadeDatabase()
        var rows = ["BEGIN"]
        var contents: [[UInt8]] = []
        for number in 1...Self.count {
            rows.append(MadeDatabase.document(number, "d\(number)"))
            // Four rows each, so that an import takes several transactions: two branches, or an edit and a deletion.
            let base = 4 * (number - 1) + 1
            let isDeleted = number.isMultiple(of: 7)
            contents.append(Self.content(number))
            let digest = Base64.encode(SHA1.hash(contents[number - 1]))
            let files =
                #""_attachments":{"photo":{"digest":"sha1-\#(digest)","length":\#(contents[number - 1].count),"revpos":2}}"#
            rows += [
                MadeDatabase.row(number, "1-a", #"{"v":0}"#),
                MadeDatabase.row(number, "2-b", parent: base, #"{"v":\#(number),\#(files)}"#),
                MadeDatabase.row(number, "2-c", parent: base, #"{"v":\#(-number)}"#),
                MadeDatabase.row(number, "3-d", parent: base + 2, deleted: isDeleted, #"{"v":3}"#),
            ]
        }
        source = try made.sqlite(
            "old.cblite2/db.sqlite3", version: 102, MadeDatabase.schemaOf1 + rows + ["COMMIT"]
        ).deletingLastPathComponent()
        for content in contents {
            let name = Hexadecimal.encode(SHA1.hash(content)).uppercased()
            try made.file("old.cblite2/attachments/\(name).blob", content)
        }
    }

    private static func content(_ number: Int) -> [UInt8] {
        var random = SeededRandom(seed: UInt64(number))
        return random.bytes(500 + number)
    }

    /// The leaves of each document, with their histories, bodies and contents.
    private static func state(of database: Database) throws -> [String: [String]] {
        var state: [String: [String]] = [:]
        for change in try database.changes(style: .allLeaves) {
            let tree = try database.tree(of: change.id)
            state[change.id.string] = try database.leaves(of: change.id).map { leaf in
                let history = leaf.revision.flatMap { tree?.history(of: $0) }?.revisions.map(\.description) ?? []
                let files = try leaf.attachments.map { file in
                    "\(file.name) \(Hexadecimal.encode(SHA1.hash(try database.content(of: file))))"
                }
                return "\(history) \(leaf.isDeleted) \(try leaf.body()) \(files)"
            }
        }
        return state
    }

    @Test func `whenever it is killed, there is the whole database or none, and the next start ends the work`() throws {
        let tool = BuiltTool("CrashTool")
        let folder = try TemporaryFolder()
        let reference = try Database.inMemory()
        let report = try reference.importAll(from: ForeignDatabase(at: source))
        #expect(report.isWhole && report.attachments == Self.count && report.leaves == 2 * Self.count, "\(report)")
        let expected = try Self.state(of: reference)
        #expect(expected.count == Self.count)

        // How long a start takes that nobody ends.
        let clock = ContinuousClock()
        let duration = try clock.measure {
            let outcome = try tool.run(["migrate", source.path, folder.path + "/whole.settle"])
            #expect(outcome.status == 0, "\(outcome.output)")
        }
        var longest = max(
            20_000,
            Int(duration.components.seconds * 1_000_000) + Int(duration.components.attoseconds / 1_000_000_000_000))
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = SeededRandom(seed: seed)
        var unfinished = 0
        for round in 0..<Self.rounds {
            let path = folder.path + "/\(round).settle"
            for _ in 0..<(1 + random.below(3)) {
                let isNew = !FileManager.default.fileExists(atPath: path)
                let process = try tool.start(["migrate", source.path, path])
                // The moment of the kill is random; nothing is awaited.
                usleep(UInt32(random.below(longest)))
                kill(process.processIdentifier, SIGKILL)
                process.waitForEnd()
                guard FileManager.default.fileExists(atPath: path) else {
                    if FileManager.default.fileExists(atPath: path + ".importing") { unfinished += 1 }
                    continue
                }
                // On a busy machine the start that was measured may have stood still.
                if isNew { longest = max(20_000, longest * 2 / 3) }
                try expectWhole(path, expected, "seed \(seed), round \(round), after a kill")
            }
            let outcome = try tool.run(["migrate", source.path, path])
            #expect(outcome.status == 0, "seed \(seed), round \(round): \(outcome.output)")
            try expectWhole(path, expected, "seed \(seed), round \(round), at the end")
            #expect(!FileManager.default.fileExists(atPath: path + ".importing"), "seed \(seed), round \(round)")
        }
        #expect(unfinished > 0, "seed \(seed): no kill fell into the import")
    }

    private func expectWhole(_ path: String, _ expected: [String: [String]], _ place: String) throws {
        let database = try Database.open(path)
        defer { database.close() }
        let found = try Self.state(of: database)
        let differing = expected.keys.filter { expected[$0] != found[$0] }.sorted().prefix(3)
        #expect(found.count == expected.count && differing.isEmpty, "\(place): \(differing)")
        #expect(try database.localDocument("_local/settle-import") == nil, "\(place)")
        #expect(try database.verify().problems.isEmpty, "\(place)")
    }
}
