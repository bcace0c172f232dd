import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Imports that take long: they are interrupted, go on, and need little memory.
@Suite(.timeLimit(.minutes(10))) struct LargeImportTests {
    private let room: Room

    init() throws { room = try Room() }

    private static func line(_ number: Int, _ text: String = "x") -> String {
        "{\"_id\":\"d\(number)\",\"_rev\":\"1-a\",\"n\":\(number),\"text\":\"\(text)\"}\n"
    }

    @Test(arguments: [false, true])
    func `Ctrl-C ends the import of a dump with what was read, and the same command goes on`(isJSON: Bool) throws {
        let (first, all) = (2_500, 6_000)
        let pipe = Pipe()
        let process = try room.start(["import", "db", "-"] + (isJSON ? ["--json"] : []), "cut", input: pipe)
        let text = (0..<first).map { Self.line($0) }.joined()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        waitUntil { Room.isWaiting(process, for: pipe) }
        process.interrupt()
        let outcome = try room.outcome(process, "cut")
        try pipe.fileHandleForWriting.close()
        #expect(outcome.status == 130 && outcome.errors.contains("interrupted after 2,500 documents"), "\(outcome)")
        #expect(outcome.errors.contains("goes on, but stores documents without ids"), "\(outcome)")
        if isJSON {
            #expect(outcome.json["imported"] == 2_500 && outcome.error["error"] == "interrupted", "\(outcome)")
        } else {
            #expect(outcome.output.hasPrefix("Imported 2,500 revisions"), "\(outcome)")
        }
        #expect(try room.run("info", "db", "--json").json["doc_count"] == 2_500)
        let again = try room.run("import", "db", "-", "--json", input: (0..<all).map { Self.line($0) }.joined())
        #expect(again.status == 0 && again.json["known"] == 2_500 && again.json["imported"] == 3_500, "\(again)")
    }

    @Test func `Ctrl-C ends the import of a database, and the same command goes on after the last batch`() throws {
        let count = 30_000
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
        do {
            let connection = try SQLiteConnection(path: room.path("old.cblite"))
            for statement in [
                "CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL)",
                """
                CREATE TABLE revs (sequence INTEGER PRIMARY KEY AUTOINCREMENT, doc_id INTEGER NOT NULL, revid TEXT NOT NULL,
                parent INTEGER, current BOOLEAN, deleted BOOLEAN DEFAULT 0, json BLOB)
                """,
                "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT)",
                "INSERT INTO info VALUES('privateUUID', 'private')",
                "\(numbers) INSERT INTO docs SELECT i, 'd' || i FROM n",
                "\(numbers) INSERT INTO revs(doc_id, revid, current, json) SELECT i, '1-a', 1, '{\"n\":' || i || '}' FROM n",
                "PRAGMA user_version = 101",
            ] { try connection.execute(statement) }
        }
        let gate = open(room.path("gate"), O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        #expect(flock(gate, LOCK_EX) == 0)
        let process = try room.start(["import", "db", "old.cblite"], "cut", Self.waiting(room))
        waitUntil("some batches are stored") {
            FileManager.default.fileExists(atPath: room.path(Self.sign)) || !process.isRunning
        }
        process.interrupt()
        close(gate)
        let outcome = try room.outcome(process, "cut")
        #expect(
            outcome.status == 130 && outcome.errors.contains("which are stored; the same command goes on"), "\(outcome)"
        )
        let stored = try #require(try room.run("info", "db", "--json").json["doc_count"]?.int)
        #expect(stored > Self.storedAtSign && stored < count)
        let again = try room.run("import", "db", "old.cblite", "--json")
        #expect(again.status == 0 && again.json["documents"]?.int == count, "\(again)")
        // It reports both of its parts. The first document alone is no place to go on from.
        #expect(again.json["known"]?.int == (stored == 1 ? 1 : 0), "\(again)")
        #expect(try room.run("info", "db", "--json").json["doc_count"]?.int == count)
    }

    #if os(Linux)
    /// The file that shows that batches are stored.
    private static let sign = "sign"
    private static let storedAtSign = 1000

    /// What makes the tool wait when it has written some batches, until the file `gate` is not locked. The whole import has about
    /// 2,200 of these calls.
    private static func waiting(_ room: Room) throws -> [String: String] {
        try room.preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <sys/file.h>
            #include <unistd.h>
            ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) {
                static int calls = 0;
                ssize_t (*real)(int, const void *, size_t, off64_t) =
                    (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
                if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == 500) {
                    close(open("\(sign)", O_CREAT | O_WRONLY, 0600));
                    flock(open("gate", O_RDONLY), LOCK_EX);
                }
                return real(file, bytes, count, place);
            }
            """)
    }
    #else
    private static let sign = "db/database.sqlite"
    private static let storedAtSign = 0

    private static func waiting(_ room: Room) throws -> [String: String] { [:] }
    #endif

    @Test func `a dump of 120 MB is imported in 60 MB of memory`() throws {
        try room.write("", to: "dump.jsonl")
        let file = try FileHandle(forWritingTo: room.folder.appending(path: "dump.jsonl"))
        var (number, size) = (0, 0)
        while size < 120 << 20 {
            var piece = ""
            for _ in 0..<100 {
                piece += Self.line(number, String(repeating: "text \(number % 10) ", count: 1 + number * 37 % 900))
                number += 1
            }
            let bytes = Data(piece.utf8)
            try file.write(contentsOf: bytes)
            size += bytes.count
        }
        try file.close()
        let outcome = try room.run(all: ["import", "db", "dump.jsonl", "--json"], memory: 60_000)
        #expect(outcome.status == 0 && outcome.json["imported"]?.int == number, "\(outcome)")
        #expect(outcome.json["bytes"]?.int == size, "\(outcome)")
    }
}
